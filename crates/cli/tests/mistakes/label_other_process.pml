proctype P() { L: skip }
init { run P(); goto L }
