// 2 states, 2 transitions, 1 errors
/* Whoever offers a message, a process that would only look at a rendezvous makes an error of it. */
chan c = [0] of { byte };
chan d = [0] of { byte };
active proctype P() { byte x; { c?<x> } unless { x == 0 } }
active proctype Q() { end: d!1 }
