// 3 states, 3 transitions, 1 errors
// A d_step may start with the receiving end of a rendezvous.
chan c = [0] of { byte };
byte x;
active proctype S() { c!4; c!5 }
active proctype R() { byte l; do :: d_step { c?l; x = x + l; l = 0 } od }
