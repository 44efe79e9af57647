// 12 states, 21 transitions, 3 errors
chan c = [0] of { byte };
active D_proctype P() { do :: c!1 :: c!2 :: else -> break od }
active proctype Q() { byte x; do :: c?x :: break od }
