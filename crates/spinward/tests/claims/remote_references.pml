// 35 states, 57 transitions, 11 errors
byte x;
active proctype P() { byte y; do :: y < 2 -> y++ :: y == 2 -> break od; L: y = 3 }
active proctype Q() { byte y; x = 1; M: x = 0 }
never { do :: P[0]:y < 2 && !P[0]@L :: P@L -> break :: Q[1]@M :: else od }
