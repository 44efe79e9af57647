chan c = [1] of { byte };
byte x, y;
init { c?x,y }
