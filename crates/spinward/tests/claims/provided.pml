// 8 states, 13 transitions, 4 errors
byte x;
active proctype P() provided (x != 2) { do :: x = 1 :: x = 2 od }
active proctype Q() { do :: x = 0 :: x == 2 -> x = 3 od }
never { do :: x != 3 :: x == 3 -> break od }
