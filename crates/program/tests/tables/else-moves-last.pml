byte x;
active proctype P() { if :: else -> x = 1 :: x == 1 -> x = 2 :: x == 2 fi; do :: else -> break :: x == 3 -> if :: else :: x == 5 fi od }
