// 8 states, 9 transitions, 0 errors
byte x;
active proctype P() { do :: x < 2 -> x++ :: x == 2 -> break od; x = 3 }
never { do :: pc_value(0) != 7 :: pc_value(0) == 7 -> break od }
