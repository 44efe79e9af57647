// 7 states, 9 transitions, 0 errors
// Inside a d_step the first possible option is taken.
byte x, y;
active [2] proctype A() { d_step { if :: x > 0 -> y = 1 :: x == 0 -> x = 1 :: y = 9 fi; do :: y < 5 -> y++ :: else -> break od; x++ } }
