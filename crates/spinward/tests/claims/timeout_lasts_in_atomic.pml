// 10 states, 14 transitions, 0 errors
byte x;
active proctype P() { x = 1; atomic { timeout; timeout; x = 2; timeout; x = 3 }; do :: x = 5 od }
active proctype Q() { byte y; y = 1; y = 2 }
never { do :: true od }
