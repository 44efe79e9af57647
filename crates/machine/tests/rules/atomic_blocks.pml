// 8 states, 9 transitions, 0 errors
// An atomic sequence that blocks is interrupted, and taken up again later.
byte x;
active proctype A() { atomic { x = 1; x == 2; x = 3; x = 4 } }
active proctype B() { x == 1 -> x = 2 }
