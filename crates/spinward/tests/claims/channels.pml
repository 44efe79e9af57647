// 24 states, 31 transitions, 8 errors
chan c = [2] of { byte };
active proctype P() { do :: c!1 :: c!2 od }
active proctype Q() { byte y; do :: c?y od }
never { do :: !c?[2] :: c?[2] -> break :: c??[2] && full(c) -> goto x od; x: empty(c); nempty(c) }
