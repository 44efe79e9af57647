chan c = [70000] of { byte };
init { skip }
