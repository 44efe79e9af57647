chan c = [300] of { byte };
init { skip }
