// 15 states, 19 transitions, 0 errors
byte x;
active proctype P() { byte y; _priority = 0; x = 1; _priority = 256 + 3; y = _priority; x = y }
active proctype Q() { byte y; x = 4; x = 3; assert(x != 1) }
