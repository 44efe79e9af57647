byte x,y;
active proctype P() { atomic { x = 1; atomic { x = 2; x = 3 }; x = 4; { y = 1; atomic { y = 2; y = 3 } } }; atomic { { { x = 1 } } }; y = 9 }
