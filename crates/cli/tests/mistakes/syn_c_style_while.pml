byte x;
init {
  while (x < 3) { x++ }
}
