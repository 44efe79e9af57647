byte 1st;
init { skip }
