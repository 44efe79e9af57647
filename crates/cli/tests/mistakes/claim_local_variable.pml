never { byte y; y == 0 }
init { skip }
