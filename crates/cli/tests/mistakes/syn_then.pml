init {
  int x;
  if :: x < 1 then x = 2 fi
}
