byte x,y;
active proctype P() { d_step { { x = 1; { x = 2 } }; L: x = 3; if :: x == 3 -> x = 4; goto L :: else -> goto M fi; M: y = 1 } ; L2: if :: x -> goto L2 :: else fi }
