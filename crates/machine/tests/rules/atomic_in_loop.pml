// 25 states, 36 transitions, 1 errors
byte x;
active proctype A() { do :: x < 3 -> atomic { x++; x++; x-- } :: else -> break od }
active proctype B() { atomic { do :: x == 2 -> break :: x != 2 -> x == 2 od } }
