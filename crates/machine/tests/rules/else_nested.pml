// 12 states, 12 transitions, 0 errors
byte x;
active proctype A() { do :: x < 2 -> x++ :: else -> if :: x == 2 -> x = 5 :: else -> break fi od; assert(x == 5) }
