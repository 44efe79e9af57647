// 4 states, 4 transitions, 1 errors
// A run that ends before its trace does is not at a valid end.
chan c = [2] of { byte };
active proctype P() { c!1; end: false }
active proctype Q() { c?_ }
trace { c!1; c!2 }
