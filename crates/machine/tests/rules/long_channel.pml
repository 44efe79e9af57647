// 1406 states, 1406 transitions, 0 errors
// A channel for more messages than a byte can count.
chan c = [300] of { byte };
active proctype A() { byte x; int n; do :: n < 280 -> c!n; n++ :: else -> break od; assert(len(c) == 280); do :: c?x; n-- :: empty(c) -> break od; assert(n == 0) }
