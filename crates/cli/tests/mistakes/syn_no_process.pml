byte x;
proctype P() { skip }
