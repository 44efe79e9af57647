// 11 states, 11 transitions, 0 errors
byte x;
active proctype A() { goto L2; L1: x++; if :: x < 3 -> goto L1 :: else -> goto L3 fi; L2: x = 1; goto L1; L3: skip; progress: x = 0; accept: goto E; E: skip }
