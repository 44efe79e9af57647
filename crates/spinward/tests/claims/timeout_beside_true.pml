// 7 states, 10 transitions, 2 errors
byte x;
active proctype P() { x = 1; x = 2; timeout; x = 3; do :: x = 3 :: x = 4 od }
never { do :: timeout -> break :: true od }
