byte x;
active proctype P() { do :: timeout -> x++ :: x == 3; break od; timeout; _ = 3; _ = x; assert(x == 3); x = (x -> 3 : 4) }
