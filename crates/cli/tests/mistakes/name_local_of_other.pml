proctype P() { byte mine; mine = 1 }
init { mine = 2; run P() }
