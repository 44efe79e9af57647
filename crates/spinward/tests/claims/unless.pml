// 12 states, 16 transitions, 4 errors
byte x;
active proctype P() { do :: x = 1 :: x = 2 :: x = 0 od }
never { { do :: true od } unless { x == 2 }; x == 1; x == 0 }
