// 10 states, 15 transitions, 1 errors
chan c = [1] of { byte };
byte x;
active proctype P() { do :: c!1 :: c!2 od }
active proctype Q() { byte y; do :: c?y od }
notrace { c!1; c!2 }
never { do :: true od }
