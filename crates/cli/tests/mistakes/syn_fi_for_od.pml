byte x;
init {
  do
  :: x < 3 -> x++
  fi
}
