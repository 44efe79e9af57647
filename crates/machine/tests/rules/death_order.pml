// 21 states, 25 transitions, 0 errors
// Processes die youngest first.
byte n;
proctype P(byte k) { byte l = k; n = n + l }
init { run P(1); run P(2); (_nr_pr == 1) -> n = 0; run P(3); (_nr_pr == 1) -> assert(n == 3) }
