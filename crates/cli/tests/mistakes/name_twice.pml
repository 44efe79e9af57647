byte x;
int x;
init { x = 1 }
