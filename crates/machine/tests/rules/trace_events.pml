// 15 states, 20 transitions, 4 errors
mtype = { a, b };
chan c = [2] of { mtype }; chan d = [1] of { byte };
active proctype P() { c!a; d!1; c!b; c!b }
active proctype Q() { c?_; c?_; d?_ }
trace { do :: c!a; c!b od }
