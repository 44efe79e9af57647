byte x,y;
active proctype P() { x++ unless y == 1; skip }
