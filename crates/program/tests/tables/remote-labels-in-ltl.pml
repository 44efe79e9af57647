byte x;
active proctype P() { do :: x == 1 -> x = 5; goto L :: x == 2 -> if :: x == 3 -> Z: goto K :: else fi od; K: { x = 1; L: goto M }; M: x = 3 }
proctype Q() { x = 3 }
ltl p { [] (P@L -> <> P[0]@Z) }
