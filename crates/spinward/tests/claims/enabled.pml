// 7 states, 7 transitions, 3 errors
byte x;
active proctype P() { do :: x < 2 -> x++ :: x == 2 -> break od }
active proctype Q() { (x == 2) -> x = 5 }
never { do :: !enabled(1) :: enabled(1) -> break od }
