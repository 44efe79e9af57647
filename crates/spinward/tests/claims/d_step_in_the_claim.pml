// 6 states, 10 transitions, 4 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 :: x = 0 od }
never { do :: d_step { x == 1 -> assert(x == 1); skip } :: x == 2 -> break :: else od }
