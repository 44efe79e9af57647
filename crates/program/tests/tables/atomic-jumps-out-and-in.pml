byte x,y;
active proctype P() { atomic { x = 1; goto A; y = 2; A: y = 3; goto B }; x = 4; B: x = 5; atomic { x = 6; goto C }; x = 7; atomic { x = 8; C: y = 9; y = 10 } }
