// 4 states, 4 transitions, 2 errors
chan c = [0] of { byte };
byte x;
active proctype P() { do :: atomic { x = 1; c!1; x = 2; c!2; x = 3 } od }
active proctype Q() { byte y; do :: atomic { c?y; x = 10 + y; c?y; x = 20 + y } od }
never { do :: x < 20 :: x == 22 -> break :: else od }
