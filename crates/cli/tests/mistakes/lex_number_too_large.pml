int x;
init { x = 99999999999 }
