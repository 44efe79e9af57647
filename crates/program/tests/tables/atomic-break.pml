byte x;
active proctype P() { do :: atomic { x == 0 -> x = 1; if :: x == 1 -> break :: x == 2 -> skip fi; x = 5 } :: atomic { do :: x == 1 -> break :: x == 3 -> goto E od; break } od; E: x = 3 }
