chan c = 2 of { byte };
init { c!1 }
