byte x;
active proctype P() provided (x < 3) { x++; do :: x++ od }
active [2] proctype Q() priority 4 { x-- ; set_priority(0, 3); x = get_priority(1) }
