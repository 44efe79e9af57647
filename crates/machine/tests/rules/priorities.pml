// 8 states, 8 transitions, 0 errors
byte x;
active proctype Low() priority 1 { x++; x++ }
active proctype High() priority 5 { x = x * 2; x == 1; x = x * 2 }
