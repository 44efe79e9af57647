byte x;
inline f(a, b) { byte t; t = a; a = b; b = t }
inline g(z) { f(z, x); z++ }
byte y;
active proctype P() { f(x,y); g(y); atomic { g(x) }; if :: f(x,y) :: g(y) -> skip fi; d_step { f(x,y) } }
