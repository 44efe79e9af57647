byte a[3];
byte x;
init { x = a }
