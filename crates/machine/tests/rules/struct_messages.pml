// 8 states, 8 transitions, 0 errors
typedef T { byte a; short b };
chan c = [1] of { T, byte };
active proctype A() { T t; t.a = 3; t.b = -4; c!t,9 }
active proctype B() { T u; byte x; c?u,x; assert(u.a == 3 && u.b == -4 && x == 9) }
