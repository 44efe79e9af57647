// 3 states, 7 transitions, 0 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 :: assert(x != 2) od }
never { do :: x != 2 od }
