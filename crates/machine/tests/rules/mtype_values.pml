// 5 states, 5 transitions, 0 errors
mtype = { a, b, c }; mtype = { d, e }; mtype:k = { f, g };
mtype v = b; mtype:k w = f;
active proctype A() { assert(a == 3 && b == 2 && c == 1 && d == 5 && e == 4 && f == 2 && g == 1); v = d; w = g }
