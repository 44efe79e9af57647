byte counter;
init { conuter = 1 }
