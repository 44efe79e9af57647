// 10 states, 10 transitions, 0 errors
byte x;
active proctype A() priority 2 { set_priority(_pid, 9); x++; set_priority(_pid, 1); x++ }
active proctype B() priority 3 { x = 10; assert(get_priority(0) == 9 || get_priority(0) == 2); x = x + 10 }
