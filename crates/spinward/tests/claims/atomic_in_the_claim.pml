// 15 states, 25 transitions, 6 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 :: x = 0 od }
never { do :: atomic { x == 1 -> true; x == 1; assert(x == 1) } :: x == 2 -> goto L :: else od; L: atomic { x == 0; skip } ; x == 2; skip }
