// 5 states, 7 transitions, 0 errors
byte x;
active proctype A() { do :: d_step { x < 4; x++; x++ } :: d_step { x > 2 -> x-- } od }
