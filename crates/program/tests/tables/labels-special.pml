byte x,y;
active proctype P() { end: progress_a: accept_b: x = 1; end1: goto L; progress1: goto M; L: x = 2; M: end_x: if :: x == 1 -> end_y: x = 2; x = 3 :: x == 2 -> skip fi; end_z: do :: accept_1: x == 1 -> x = 2 :: x == 2 -> break od; end_w: { x = 3; y = 4 }; accept_w: atomic { x = 3; y = 4 }; end_q: }
