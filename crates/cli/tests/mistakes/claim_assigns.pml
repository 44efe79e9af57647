byte x;
never { do :: x == 1 -> x = 2 od }
init { x = 1 }
