proctype P() { L: skip }
init { run P(); P@M }
