// 8 states, 9 transitions, 0 errors
byte x;
active proctype A() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x == 2 -> break :: else od }
