init { }
