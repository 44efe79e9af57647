// 15 states, 17 transitions, 9 errors
byte x;
proctype R() { x = 1 }
init { run R(); run R(); _nr_pr == 1 -> x = 9 }
never { do :: _nr_pr < 3 :: _nr_pr >= 4 -> assert(x == 0); break :: else od }
