byte x,y,z;
active proctype P() { atomic { x = 1; x = 2 } unless atomic { y == 1; y = 2 }; d_step { x = 1; x = 3} unless { z == 1 } }
