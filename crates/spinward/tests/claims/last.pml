// 3093 states, 6191 transitions, 15 errors
byte x;
active [2] proctype P() { do :: x < 3 -> x++ :: x > 0 -> x-- od }
never { do :: _last == 0 :: _last == 1 && x == 3 -> break :: else od }
