init {
  proctype P() { skip }
}
active proctype Q() { skip }
