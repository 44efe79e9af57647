// 5 states, 13 transitions, 2 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 :: assert(x != 2) od }
never { do :: x != 2 :: x == 2 -> goto L od; L: do :: x == 2 od }
