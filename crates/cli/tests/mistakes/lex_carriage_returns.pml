byte x;
init {
	x = yy
}
