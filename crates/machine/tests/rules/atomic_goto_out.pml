// 27 states, 39 transitions, 0 errors
// A jump out of an atomic sequence ends it.
byte x;
active [2] proctype A() { atomic { x++; if :: x > 1 -> goto out :: else fi; x = x + 2 }; x = 7; out: x-- }
