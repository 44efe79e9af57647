// 19 states, 27 transitions, 0 errors
// _last is part of the state also when only a formula reads it.
byte x;
active [2] proctype P() { x++; x-- }
ltl p { [] (_last <= 2) }
