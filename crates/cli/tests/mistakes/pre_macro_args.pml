#define max(a, b) ((a) > (b) -> (a) : (b))
byte x;
init { x = max(1) }
