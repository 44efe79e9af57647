byte x;
init { x += 2 }
