byte x;
active proctype P() { do :: do :: x == 1 -> x = 2 :: if :: x == 2 -> break :: x == 6 -> x = 4 fi od :: x == 7 -> { if :: x == 7 :: x == 8 fi; x = 3 } :: { x == 9; x = 1 } :: else -> break od }
