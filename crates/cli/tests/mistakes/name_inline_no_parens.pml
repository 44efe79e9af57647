inline f { skip }
init { f() }
