// 6 states, 6 transitions, 1 errors
proctype P(byte k) { byte v = k; v++; v++; v == 0 }
init { pid p; p = run P(4); P[p]:v == 6 -> assert(P[p]:k == 4) }
