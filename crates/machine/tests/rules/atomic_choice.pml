// 5 states, 9 transitions, 0 errors
// Each way through an atomic sequence is a transition of its own.
byte x;
active proctype A() { atomic { if :: x = 1 :: x = 2 :: x = 2 fi; if :: x++ :: x++ fi } }
