// 7 states, 7 transitions, 3 errors
byte x;
active proctype P() { atomic { x = 1; x == 2; x = 3 }; assert(x == 3) }
active proctype Q() { do :: x == 1 -> x = 2 :: x == 3 -> break od }
never { do :: x != 3 :: x == 3 -> break od }
