byte x,y;
active proctype P() { d_step { x = 1; if :: x == 1 -> y = 1 :: else -> y = 2 fi; do :: x < 4 -> x++ :: else -> break od }; y = 3; d_step { do :: x > 0 -> x-- :: x==0 -> break od } ; x = 9 }
