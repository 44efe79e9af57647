// 2 states, 3 transitions, holds
byte x;
active proctype P() { x = 1; false }
never { do :: true :: timeout -> break od }
