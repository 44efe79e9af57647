byte x;
init { d_step { x = 1; d_step { x = 2 } } }
