byte x;
active proctype P() { A: atomic { x = 1; goto B }; x = 2; B: atomic { x = 3; if :: x == 1 -> goto A :: x == 2 -> goto C :: x == 3 -> goto D fi; D: x = 4; x = 5 }; C: do :: x == 1 -> atomic { x = 9; break } :: atomic { x == 2 -> goto A } od }
