// 21 states, 32 transitions, 0 errors
chan c = [0] of { bit };
byte x;
active proctype A() { { do :: x < 2 -> x++ :: x == 2 -> x = 0 od } unless { c?1 -> x = 7 } }
active proctype B() { x == 1; c!1 }
