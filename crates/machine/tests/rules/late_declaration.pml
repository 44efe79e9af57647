// 57 states, 99 transitions, 0 errors
// A declaration after a statement is a step of its own.
byte x;
active [2] proctype A() { x++; byte y = 3; byte z; z = y; { byte w = z; x = x + w } }
