byte x, a[4];
active proctype P() { byte i; for (i : 1 .. 3) { x = x + i; if :: x > 3 -> break :: else fi }; for (i in a) { a[i] = i }; L: for (i : x .. x + 2) { skip; for (x : 0 .. 1) { a[x] = 1 } } ; if :: x -> goto L :: else fi }
