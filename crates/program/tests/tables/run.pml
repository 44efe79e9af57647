byte x;
proctype Q(byte a; short b) { x = a + b }
init { pid p; atomic { run Q(1,2); p = run Q(3, x); }; p = run Q(0,0); run Q(1, 1) priority 3 }
