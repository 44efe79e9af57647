// 9 states, 9 transitions, 0 errors
bit b = 3; byte y = 257; short s = 40000; int i = 2147483647; unsigned u : 3 = 9; bool ba[2];
active proctype A() { b = 2; y = -1; s = 32768; i++; u = 15; ba[1] = 5; assert(b == 0 && y == 255 && s == -32768 && i < 0 && u == 7 && ba[1] == 5) }
