byte x;
init { else -> x = 1 }
