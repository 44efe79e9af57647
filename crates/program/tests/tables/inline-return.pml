byte x;
inline f(a) { return a + 1 }
inline g(a) { if :: a -> return 1 :: else -> return 2 fi }
active proctype P() { x = f(3); x = f(x); x = g(x) }
