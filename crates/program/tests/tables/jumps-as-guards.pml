byte x;
active proctype P() { L: do :: goto L2 :: break :: x == 1 -> goto L :: { goto L3 } od; L2: x = 2; L3: if :: goto L :: skip :: goto E fi; E: skip }
