// 3 states, 3 transitions, 2 errors
// What is wrong with an offer is told also when nobody is left to take it.
chan c = [0] of { byte, byte };
active proctype P() { do :: c!1 :: timeout -> break od }
