init { byte x = 1; (byte y == 2) }
