#defin N 3
init { skip }
