// 10 states, 12 transitions, 3 errors
chan c = [2] of { byte, byte };
active proctype P() { c!3,1; if :: c!4,2 :: c!4,3 fi }
active proctype Q() { byte x; c?3,x; c?x,eval(2) }
trace { c!3,_; do :: c!_,2 :: c?_,_ od }
