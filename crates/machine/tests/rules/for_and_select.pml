// 30 states, 32 transitions, 1 errors
byte x; int a[3] = { 4, 5, 6 };
active proctype A() { byte i; for (i : 1 .. 3) { x = x + i } for (i in a) { x = x + a[i] } select (i : 2 .. 4); assert(i < 4) }
