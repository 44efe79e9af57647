// 1 states, 1 transitions, 0 errors
byte x;
active proctype P() { (x == 1); timeout }
never { !timeout; timeout; do :: !timeout -> assert(false) :: timeout od }
