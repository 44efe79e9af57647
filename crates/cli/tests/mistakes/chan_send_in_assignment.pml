chan c = [2] of { byte };
byte x;
init { x = c!1 }
