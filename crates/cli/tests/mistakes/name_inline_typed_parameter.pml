byte x;
inline f(byte a) { x = a }
init { f(1) }
