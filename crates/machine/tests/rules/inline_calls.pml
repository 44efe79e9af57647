// 177 states, 267 transitions, 0 errors
byte x;
inline add(v, k) { byte t; t = v + k; v = t }
active [2] proctype A() { add(x, 2); add(x, x) }
