#ifndef N
#error "N must be given: -D N=3"
#endif
init { skip }
