byte x,y;
active proctype P() { { x = 1; { do :: x == 2 -> x = 3 :: x == 4 -> { x = 5 } unless { y == 1; y = 2 } od } unless { y == 3; { y = 4 ; x = 6 } unless { y == 7 } ; y = 8 }; x = 9 } unless { if :: y == 9 -> x = 10 :: { y == 10; y = 0 } :: else -> skip fi } }
