byte x,y;
active proctype P() { { goto L; x = 1; L: x = 2; if :: x == 2 -> goto L :: else -> goto O fi } unless { y == 1; goto L2 }; O: x = 3; L2: x = 4; { do :: x == 1 -> break :: { x = 3 } unless { y == 5 } od } unless { y == 6 } }
