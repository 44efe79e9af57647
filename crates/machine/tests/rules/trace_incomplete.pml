// 6 states, 6 transitions, 2 errors
chan c = [1] of { byte };
active proctype P() { if :: c!1 :: c!1; c?1 fi; endp: c!2 }
trace { c!1; c?_ }
