typedef R { byte a; byte b };
R r;
init { r.c = 1 }
