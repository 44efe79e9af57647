// 25 states, 27 transitions, 0 errors
byte x;
proctype P() { x++; here: x++; x++ }
init { pid p; p = run P(); if :: P[p]@here -> x = 100 :: x == 3 fi }
