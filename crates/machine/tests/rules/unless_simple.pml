// 33 states, 53 transitions, 0 errors
byte x, y;
active proctype A() { { x++; x++; x++ } unless { y == 1; x = 9 }; x = 0 }
active proctype B() { y = 1; y = 0 }
