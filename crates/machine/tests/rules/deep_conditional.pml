// 9 states, 9 transitions, 0 errors
int x = -7;
active proctype A() { x = (x < 0 -> (x < -5 -> x % 4 : 1) : 2); assert(x == -3); x = x / 2; assert(x == -1); x = x >> 1; x = ~x & 5 | 8 ^ 3; x = x << 3 }
