byte x;
init { x = x > 0 -> 1 : 2 }
