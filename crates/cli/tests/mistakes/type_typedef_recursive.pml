typedef R { byte a; R next };
R r;
init { skip }
