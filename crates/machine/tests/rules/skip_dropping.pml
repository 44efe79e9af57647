// 11 states, 11 transitions, 0 errors
byte x;
active proctype A() { if :: skip; skip; x = 1 :: printf("x"); skip; x = 2 :: x = 3; skip; skip; x = 4 fi }
