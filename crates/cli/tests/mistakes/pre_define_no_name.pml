#define 3 N
init { skip }
