byte x, y
byte z;
init { x = 1 y = 2 }
