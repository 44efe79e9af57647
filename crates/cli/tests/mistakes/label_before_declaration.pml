init { L: byte x; x = 1; goto L }
