// 6 states, 7 transitions, 0 errors
chan c = [0] of { byte };
byte x;
active proctype P() { c!1; x = 1 }
active proctype Q() provided (timeout) { c?1; x = 5 }
never { do :: true od }
