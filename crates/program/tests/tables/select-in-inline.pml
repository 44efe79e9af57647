byte x;
inline f() { select (x : 1 .. 3) }
active proctype P() { f(); if :: f() :: x == 3 fi; x = 1; atomic { select (x : 0 .. 40) } ; atomic { select (x : 0 .. x) ; x = 4 } }
