// 2 states, 3 transitions, 0 errors
byte x;
active proctype P() { x = 1; false }
never { do :: true :: timeout -> break od }
