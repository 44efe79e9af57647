// 14 states, 14 transitions, 0 errors
// The fields of a record get their values when the process starts, wherever the record is declared.
// The declaration is a step all the same, and it sets nothing.
typedef T { byte a; byte k[2] = 3; chan c = [2] of { byte } };
active proctype A() { byte i; do :: i < 2 -> T t; t.a++; t.c!t.k[i]; i++ :: else -> break od; assert(t.a == 2 && len(t.c) == 2) }
