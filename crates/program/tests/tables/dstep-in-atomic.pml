byte x,y;
active proctype P() { atomic { d_step { x = 1; x = 2 } ; y = 1; d_step {y = 2; y = 3 } }; atomic { if :: x==2 -> d_step { x = 3; y=4} :: else fi } ; x = 0 }
