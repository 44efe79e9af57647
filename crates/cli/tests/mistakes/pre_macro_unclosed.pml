#define inc(a) a = a + 1
byte x;
init { inc(x
}
