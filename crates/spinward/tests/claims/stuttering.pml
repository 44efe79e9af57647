// violated
byte x;
active proctype P() { x = 1 }
never { do :: x == 0 :: x == 1 -> x == 1; x == 1; x == 1; assert(false) od }
