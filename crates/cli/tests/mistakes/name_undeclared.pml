init { conut = 1 }
