// 16 states, 18 transitions, 0 errors
// An offer that is taken disables else, one that is not leaves it.
chan c = [0] of { bit };
byte x;
active proctype S() { do :: x < 3 -> if :: c!1 -> x++ :: x > 5 -> skip fi :: else -> break od }
active proctype R() { do :: c?1 :: x == 3 -> break od }
