mtype = { ack, nak };
mtype = { ack };
init { skip }
