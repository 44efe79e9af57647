chan c = [1];
init { skip }
