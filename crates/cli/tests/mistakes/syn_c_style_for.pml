byte i;
init {
  for (i = 0; i < 3; i++) { skip }
}
