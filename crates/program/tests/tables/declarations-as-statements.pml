byte x; typedef T { byte f }
active proctype P() { byte a = 3; byte b; x = 1; byte c = x; byte d, e = 2; byte f[3]; T t; T u[2]; bit g[2] = 1; if :: x == 1 -> byte k; k = 2 :: else -> byte m = 4; m++ fi; { byte n } ; chan q;
mtype z; unsigned w : 4 = 3 }
