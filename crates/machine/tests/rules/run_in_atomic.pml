// 19 states, 29 transitions, 0 errors
byte n;
proctype P() { n++ }
init { byte i; atomic { do :: i < 3 -> run P(); i++ :: else -> break od }; (_nr_pr == 1) -> assert(n == 3) }
