byte x;
active proctype P() { if :: false -> x = 1 :: x == 0 -> x = 2 :: 0 -> x = 3 fi; if :: false -> skip :: if :: false -> x = 1 :: x == 3 fi :: else fi; if :: { false; x = 1 } :: atomic { x == 1; x = 2 } :: d_step { x == 2; x = 3 } fi; do :: false od }
