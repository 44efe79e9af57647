// 7 states, 7 transitions, 0 errors
typedef In { byte a[2]; short s }; typedef Out { In x; In y[2]; bit b };
Out g, h[2];
active proctype A() { Out l; byte i = 1; l.y[i].a[i] = 5; g.x.s = -3; h[i].y[i].s = l.y[1].a[1] + g.x.s; h[1].b = 3; assert(h[1].y[1].s == 2 && h[1].b == 1 && h[0].b == 0) }
