chan c = [1] of { byte };
byte x;
init { c?x+1 }
