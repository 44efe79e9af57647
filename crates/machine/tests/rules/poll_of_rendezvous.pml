// 1 states, 1 transitions, 2 errors
chan c = [0] of { byte };
init { c?[1] }
