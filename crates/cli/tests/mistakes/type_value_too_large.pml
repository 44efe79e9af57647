byte x = 300;
init { x = 1000 }
