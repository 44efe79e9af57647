// 11 states, 11 transitions, 0 errors
byte n;
proctype P() { n = _pid }
init { pid p; p = run P(); (_nr_pr == 1); p = run P(); (_nr_pr == 1); assert(p == 1 && n == 1) }
