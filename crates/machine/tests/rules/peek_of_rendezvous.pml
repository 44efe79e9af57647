// 13 states, 19 transitions, 10 errors
chan c = [0] of { byte }; chan d = [1] of { byte };
byte x;
active proctype P() { if :: c?<x> :: c??<3> :: x == 0 -> d!1 fi; d?x }
active proctype Q() { if :: c!3 :: c!4 :: skip fi }
