// 27 states, 31 transitions, 1 errors
byte x;
chan c = [1] of { byte };
active proctype A() { do :: c!1 :: timeout -> x++; c?_; if :: x == 3 -> break :: else fi od }
active proctype B() { x == 2; c?_ }
