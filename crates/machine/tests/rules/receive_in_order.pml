// 5 states, 5 transitions, 0 errors
// A variable received first is used as an index by the next.
chan c = [2] of { byte, byte };
byte i, a[3];
active proctype A() { c!2,7; c?i,a[i]; assert(a[2] == 7 && a[0] == 0) }
