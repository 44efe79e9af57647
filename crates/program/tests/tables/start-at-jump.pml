byte x;
active proctype P() { goto L; x = 1; L: goto M; x = 2; M: x = 3 }
proctype Q() { atomic { x = 1 } }
init { atomic { goto L; x= 1; L: x = 2; x = 3}; run Q() }
