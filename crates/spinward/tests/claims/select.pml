// 29 states, 51 transitions, 4 errors
byte x; int i;
active proctype P() { do :: x = 1 :: x = 2 od }
never { select(i : 0 .. 2); i == x; i = 0; do :: i < 3 -> i++ :: else -> break od; true }
