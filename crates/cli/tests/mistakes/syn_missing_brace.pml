byte x;
init {
  x = 1;
  if
  :: x == 1 -> skip
  fi
