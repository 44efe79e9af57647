proctype P() { skip }
init { d_step { run P() } }
