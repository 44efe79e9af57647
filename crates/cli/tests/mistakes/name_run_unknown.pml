proctype Client() { skip }
init { run Cleint() }
