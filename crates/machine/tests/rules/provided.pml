// 14 states, 14 transitions, 1 errors
bit turn;
byte x;
active proctype A() provided (turn == 0) { do :: x < 4 -> x++; turn = 1 :: else -> break od }
active proctype B() provided (turn == 1) { do :: x < 4 -> x++; turn = 0 :: else -> break od }
