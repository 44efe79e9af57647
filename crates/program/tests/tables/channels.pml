chan c[3] = [2] of { byte };
chan d = [0] of { bit, chan }; byte n;
active proctype P() { chan l = [1] of { byte }; chan m; m = l; l!1; c[n]!3; c[1]?n; d!1,l; d?1,m; d?_,m; d?eval(n),_; m!!4; m??n; m?<n>; m??<5>; if :: m?[n] :: m??[4] :: full(m) :: len(c[2]) == 1 fi }
