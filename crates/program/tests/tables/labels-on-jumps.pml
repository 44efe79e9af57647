byte x;
active proctype P() { A: progress: end: goto D; x = 1; D: x = 3; endB: accept: break_: goto D}
