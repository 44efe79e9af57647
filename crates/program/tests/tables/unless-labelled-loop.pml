byte x, i;
active proctype P() {
  do
  :: x < 9 ->
progress:
    do
    :: x < 3 -> x++
    :: x == 7 -> goto progress
    od unless { x == 2 -> break }
    x = 4
  :: x == 5
  od
}
active proctype Q() {
end: for (i : 1 .. 2) { x++ } unless { x == 2 -> goto end };
  x = 6
}
active proctype R() {
A: accept: do
  :: x < 3 -> atomic { x++; x-- }
  :: else -> break
  od unless { x == 2 -> goto A }
}
