// 31 states, 48 transitions, 5 errors
// A channel in a hidden record is at the same place of its block as a global one.
typedef T { chan h = [2] of { byte } };
chan c = [2] of { byte };
hidden T hid;
proctype P() { c!1 }
proctype R(chan p) { p!2 }
init {
	byte x;
	atomic { run P(); run R(c) };
	c?x; assert(x == 1)
}
