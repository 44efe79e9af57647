mtype:colour = { red };
mtype:fruit = { apple };
mtype:colour c;
init { c = apple }
