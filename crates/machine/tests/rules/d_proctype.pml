// 16 states, 17 transitions, 0 errors
byte x;
active proctype Z() { x = 2 }
active D_proctype A() { if :: x < 2 -> x = 5 :: x >= 1 -> x = 6 :: x == 7 fi }
