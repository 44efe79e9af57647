chan c = [0] of { byte };
byte x;
init { if :: c?[x] -> skip :: len(c) > 0 -> skip fi }
