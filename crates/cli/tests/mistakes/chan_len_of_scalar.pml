byte x;
init { len(x) > 0 }
