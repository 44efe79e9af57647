// 9 states, 11 transitions, 0 errors
chan c = [2] of { byte };
active proctype P() { do :: nfull(c) -> c!1 :: full(c) -> c?_ :: nempty(c) && len(c) == 1 -> c?_ :: empty(c) -> break od }
