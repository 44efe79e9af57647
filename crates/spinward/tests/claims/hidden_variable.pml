// 11 states, 11 transitions, 2 errors
hidden byte h; byte x;
active proctype P() { do :: x < 3 -> x++; h = x :: x == 3 -> x = 0 od }
never { do :: h != 3 :: h == 3 -> break od }
