// 9 states, 15 transitions, 4 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 od }
never { T0: if :: x == 1 -> goto T1 :: x == 0 -> goto T0 :: else -> goto T0 fi;
T1: if :: x == 2 -> goto acc :: else -> goto T1 fi;
acc: skip }
