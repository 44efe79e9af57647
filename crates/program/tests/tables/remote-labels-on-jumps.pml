byte x;
active proctype P() { do :: x == 1 -> L: goto M :: x == 2 -> K: break od; M: x = 3; atomic { x = 4; N: goto Q; x = 5 }; Q: skip }
active proctype R() { (P[0]@L || P@K); x = 2; (P@N) ; (P[0]@M)}
never { T: do :: P[0]@Q -> break :: else od; accept: skip }
