byte x;
init { x == 1 U x == 2 }
