#define STEP x = = 1
byte x;
init {
  STEP
}
