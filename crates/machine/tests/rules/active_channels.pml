// 54 states, 108 transitions, 0 errors
chan q[3] = [1] of { byte };
active [3] proctype A() { byte x; q[_pid]!_pid; q[(_pid + 1) % 3]?x; assert(x == (_pid + 1) % 3) }
