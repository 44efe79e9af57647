typedef R { byte a };
R r, s;
init { r = s + 1 }
