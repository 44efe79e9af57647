byte x = 1e3;
init { skip }
