proctype P() { return }
init { run P() }
