byte x;
init { goto x }
