byte x;
active proctype P() { do :: skip; skip; skip; x = 1 :: x == 1; skip; printf("a"); skip; skip :: x == 2 -> skip; skip; x = 3; skip; skip :: printf("b"); skip; x = 4 :: true; true; 1; x = 2 :: x==5 -> skip; L: skip; skip; x = 6 od }
