byte x,y,z;
active proctype P() { L: atomic { x = 1; x = 2 } unless { y == 1; y = 2 }; if :: x==3 -> goto L :: else fi }
