// 5 states, 5 transitions, 1 errors
byte x;
active proctype A() { do :: timeout && x < 2 -> x++ :: x == 7 od }
active proctype B() { end: do :: x == 9 od }
