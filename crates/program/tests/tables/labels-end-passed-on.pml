byte x;
active proctype P() { atomic { if :: x == 1 -> x = 2 :: x == 3 -> skip fi } ; end: skip; atomic { endC: do :: x == 1 -> break od } }
