byte x;
active proctype P() { x = 1 }
never { do :: atomic { (x == 1) -> assert(!(x == 1)) } :: (1) -> skip od }
