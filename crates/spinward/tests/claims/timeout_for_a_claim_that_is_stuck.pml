// 7 states, 9 transitions, 0 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 :: timeout -> x = 3 od }
never { x == 0; timeout; x == 3 }
