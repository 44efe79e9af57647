// 31 states, 41 transitions, 0 errors
// The sender loses the atomicity to the receiver.
chan c = [0] of { byte };
byte x;
active proctype S() { atomic { x++; c!1; x++; x++ } }
active proctype R() { byte l; atomic { c?l; x = x * 2; x++ } }
active proctype O() { x = x + 10; x = x + 10 }
