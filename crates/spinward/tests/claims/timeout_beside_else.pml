// 5 states, 5 transitions, 2 errors
byte x;
active proctype P() { x = 1; timeout; x = 2; timeout; x = 3 }
never { do :: timeout && x == 2 -> break :: else od }
