mtype = { red, green };
init { red = 2 }
