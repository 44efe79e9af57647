byte x;
inline f() { x = 0; L: x++; if :: x < 3 -> goto L :: else fi }
active proctype P() { f(); f(); { goto L; x = 3; L: x = 2 }; goto L; L: x = 1; { goto M }; x = 5; M: skip; { x = 1; N: x = 4 }; goto N; x = 8; { {goto Q}; x = 1; Q: x = 2 } ; { { {x = 3; R: x = 4} } goto R } }
