byte x = yy;
init { skip }
