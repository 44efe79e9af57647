mtype = { ack, nak };
mtype m;
init { m = akc }
