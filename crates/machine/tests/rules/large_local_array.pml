// 136 states, 194 transitions, 9 errors
/* A local array that is no longer read when its process goes on, while another one still moves. */
byte g;
chan c = [0] of { int };

active proctype P() {
	int a[20];
	byte i;
	d_step {
		do
		:: i < 20 -> a[i] = i + g; i = i + 1
		:: else -> break
		od
	};
	if
	:: c!a[7]
	:: g = a[3]
	:: g == a[i / 20]
	fi;
	g = g + 1
}

active proctype Q() {
	int x;
	do
	:: c?x -> break
	:: g < 3 -> g = g + 1
	:: g == 3 -> break
	od
}
