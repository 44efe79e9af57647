// 21 states, 23 transitions, 0 errors
// The channels of a process die with it.
chan g = [1] of { chan };
proctype P() { chan l = [2] of { byte }; byte x; g!l; l?x; l?x }
init { chan r; run P(); g?r; r!1; r!2; (_nr_pr == 1) -> run P(); g?r; r!3; r!4 }
