byte x;
active proctype P() { if :: x == 1 :: x == 2 fi; end: if :: x == 1 -> endA: if :: x == 3 :: x == 4 fi :: x == 7 -> x = 8; endB: do :: x == 9 -> break od fi }
