// 8 states, 8 transitions, 8 errors
chan c = [0] of { byte };
active proctype P() { if :: c!1 :: c!2 :: skip fi }
active [2] proctype Q() { byte x; c?x }
trace { c!1; c?1 }
