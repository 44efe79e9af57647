byte x;
init { x.f = 2 }
