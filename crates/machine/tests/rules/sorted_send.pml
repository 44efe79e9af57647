// 13 states, 13 transitions, 0 errors
chan c = [4] of { byte, byte };
byte x, y;
active proctype A() { c!!3,1; c!!1,2; c!!3,0; c!!1,2; c?x,y; assert(x == 1); c?x,y; c?x,y; assert(x == 3 && y == 0); c?x,y; assert(y == 1) }
