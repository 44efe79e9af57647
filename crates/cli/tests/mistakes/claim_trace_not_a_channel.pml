byte x;
trace { x = 1 }
init { x = 1 }
