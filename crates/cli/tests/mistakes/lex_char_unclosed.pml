byte x;
init { x = 'ab }
