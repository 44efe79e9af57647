// 15 states, 15 transitions, 0 errors
chan c = [4] of { byte, byte };
byte x;
active proctype A() { c!1,5; c!2,6; c!3,7; c!2,8; c??2,x; assert(x == 6); c??<3,x>; assert(x == 7 && len(c) == 3); c?<x,_>; assert(x == 1); if :: c??[2,_] -> skip :: else -> assert(0) fi; if :: c?[2,_] -> assert(0) :: else fi }
