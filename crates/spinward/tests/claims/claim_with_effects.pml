// 22 states, 58 transitions, 6 errors
byte x,z;
active proctype P() { do :: x = 1 :: x = 2 :: x = 0 od }
never { do :: x != 2 -> z = 1 :: x == 2 -> z = 2; z == 2; z++; break od }
