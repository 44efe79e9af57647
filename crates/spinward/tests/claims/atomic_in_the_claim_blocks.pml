// 3 states, 10 transitions, 0 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 :: x = 0 od }
never { do :: atomic { x == 1 -> x == 2; assert(false) } :: true od }
