// 13 states, 13 transitions, 0 errors
hidden byte h; byte x;
active proctype A() { do :: x < 3 -> h = x; x++ :: else -> break od; h = 0 }
