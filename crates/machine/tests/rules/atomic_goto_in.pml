// 63 states, 105 transitions, 0 errors
// A jump into an atomic sequence.
byte x;
active [2] proctype A() { x++; if :: x == 2 -> goto in :: else fi; atomic { x = 5; in: x++; x++; x++ }; x = 0 }
