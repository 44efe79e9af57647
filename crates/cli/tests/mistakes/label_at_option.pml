byte x;
init { if L: :: x == 1 -> skip fi }
