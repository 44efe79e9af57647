chan c;
init { c!1 }
