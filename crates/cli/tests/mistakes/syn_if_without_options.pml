init { if fi }
