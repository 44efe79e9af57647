// 10 states, 13 transitions, 2 errors
mtype = { a, b };
chan c = [0] of { mtype, byte };
byte x = 3, y;
active proctype S() { do :: c!a,3 :: c!b,4 :: c!a,4 -> break od }
active proctype R() { do :: c?a,eval(x) -> x++ :: c?b,y od }
