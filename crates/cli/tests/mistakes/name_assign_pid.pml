init { _pid = 2 }
