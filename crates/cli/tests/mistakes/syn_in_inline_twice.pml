byte x;
inline f(v) { v = 1 + }
init { f(x); f(x) }
