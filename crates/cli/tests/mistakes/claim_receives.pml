chan c = [1] of { byte };
byte x;
never { c?x }
init { c!1 }
