// 27 states, 43 transitions, 12 errors
chan c = [0] of { byte };
byte x;
active proctype P() { do :: c!1 :: c!2 :: atomic { c!3; x = 3; x = 0 } od }
active proctype Q() { byte y; do :: c?y; x = y :: atomic { c?3; x = 4; x = 5 } od }
never { do :: x != 5 :: x == 5 -> break od }
