// 26 states, 32 transitions, 0 errors
byte x;
active proctype A() { x++; x++ }
active proctype B() { _last == 0 -> x = 5 }
