// 46 states, 85 transitions, 0 errors
byte x, y;
active proctype A() { { do :: x < 3 -> x++ :: x == 3 -> x = 0 od } unless { if :: y == 1 -> x = 9 :: y == 1 -> x = 8 fi } }
active proctype B() { y = 1 }
