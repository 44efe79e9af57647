byte a[3];
init { a[3] = 1 }
