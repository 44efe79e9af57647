byte c;
init { c!1 }
