init { c_expr { 1 } -> skip }
