byte x;
init { d_step { atomic { x = 1 }; x = 2 } }
