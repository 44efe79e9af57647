// 19 states, 19 transitions, 0 errors
typedef M { byte a };
chan c = [3] of { M };
byte s;
active proctype A() { M m; m.a = 2; c!m; m.a = 5; c!m; for (m in c) { s = s + m.a } assert(s == 7 && len(c) == 2) }
