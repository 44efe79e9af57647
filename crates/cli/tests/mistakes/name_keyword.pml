byte len;
init { skip }
