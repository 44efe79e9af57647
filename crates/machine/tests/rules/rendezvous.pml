// 20 states, 28 transitions, 0 errors
// One step of two processes.
chan c = [0] of { byte };
byte got;
active proctype S() { c!1; c!2 }
active [2] proctype R() { byte x; c?x; got = got + x }
