// 30 states, 40 transitions, 0 errors
byte x, y, z;
active proctype A() { { { x++; x++ } unless { y == 1 -> x = 7 } } unless { z == 1 -> x = 8 } }
active proctype B() { y = 1; z = 1 }
