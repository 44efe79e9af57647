// 9 states, 13 transitions, 3 errors
chan c = [1] of { byte };
active proctype P() { do :: c!1 :: c!2 od }
active proctype Q() { byte y; do :: c?y od }
trace { do :: c!1; c!2 od }
never { do :: len(c) == 0 :: len(c) == 1 od }
