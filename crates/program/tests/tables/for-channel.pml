typedef T { byte a; short b[2] }
chan c = [3] of { T };
active proctype P() { T m; m.a = 1; c!m; for (m in c) { m.a++; printf("%d", m.a) }; for (m in c) { skip }; { for (m in c) { m.b[1] = 3 } } }
