byte a b;
init { skip }
