byte x;
ltl p { G (x == 1) }
init { x = 1 }
