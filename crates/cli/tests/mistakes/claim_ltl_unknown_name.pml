ltl p { [] (count < 3) }
init { skip }
