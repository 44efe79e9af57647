proctype P() { skip }
byte x;
init { x = 1 + run P() }
