// 4 states, 4 transitions, 2 errors
byte x;
active proctype P() { if :: enabled(1) -> x = 2 :: !enabled(1) -> x = 3 fi; assert(x != 2) }
active proctype Q() provided (x == 3) { x = 7 }
