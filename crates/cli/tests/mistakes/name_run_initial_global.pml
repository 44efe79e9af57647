byte x = run P();
proctype P() { skip }
init { skip }
