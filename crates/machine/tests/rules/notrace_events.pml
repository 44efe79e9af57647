// 50 states, 112 transitions, 6 errors
chan c = [2] of { byte };
active proctype P() { byte i; do :: c!1 :: c!2 :: i < 2 -> i++ od }
active proctype Q() { do :: c?_ od }
notrace { c!1; c!2 }
