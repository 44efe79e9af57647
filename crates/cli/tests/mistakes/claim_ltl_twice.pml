byte x;
ltl p { [] (x < 3) }
ltl p { <> (x == 1) }
init { x = 1 }
