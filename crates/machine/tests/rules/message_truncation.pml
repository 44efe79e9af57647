// 11 states, 11 transitions, 0 errors
chan c = [3] of { bit }; chan d = [3] of { bit, byte };
int x, y;
active proctype A() { c!3; c!2; d!3,300; c?x; assert(x == 3); c?x; assert(x == 2); d?x,y; assert(x == 1 && y == 44) }
