byte x, n = 3;
active proctype P() { select (x : 1 .. 3); select (x : 0 .. 40); L: select(x : 1 .. n); M: select (x: 2 .. 50) ; N: select (x : 2 .. 3); if :: select (x : 1 .. 4) :: select (x : 1 .. n) :: select(x : 1 .. 60) fi }
