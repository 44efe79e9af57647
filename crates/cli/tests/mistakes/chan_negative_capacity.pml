chan c = [-1] of { byte };
init { skip }
