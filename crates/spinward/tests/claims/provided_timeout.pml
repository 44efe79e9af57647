// 11 states, 18 transitions, 0 errors
byte x;
active proctype P() provided (timeout) { do :: x = 1 :: x = 2 :: break od }
active proctype Q() { x = 3 }
never { do :: true od }
