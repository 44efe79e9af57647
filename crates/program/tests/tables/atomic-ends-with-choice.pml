byte x,y;
active proctype P() { atomic { if :: x == 0 -> x = 1 :: x == 1 -> goto O :: else -> skip fi }; O: y = 1; atomic { do :: x < 3 -> x++ :: else -> break od } ; y = 2; do :: atomic { x == 1 -> x = 2; break } :: atomic { x == 2; if :: y == 1 -> break :: y == 2 -> skip fi } od }
