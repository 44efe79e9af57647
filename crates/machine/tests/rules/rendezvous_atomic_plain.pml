// 81 states, 125 transitions, 0 errors
chan c = [0] of { byte };
byte x;
active proctype S() { atomic { x++; c!1; x++; x++ } }
active proctype R() { byte l; c?l; x = x * 2; x++ }
active proctype O() { x = x + 10; x = x + 10 }
