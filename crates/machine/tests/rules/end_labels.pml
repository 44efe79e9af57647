// 3 states, 3 transitions, 1 errors
chan c = [0] of { byte };
active proctype A() { end: do :: c?_ od }
active proctype B() { end_here: c!1; c!1; stop: c?_ }
