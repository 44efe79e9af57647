byte a[2][3];
init { skip }
