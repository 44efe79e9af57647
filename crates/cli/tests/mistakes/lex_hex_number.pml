int x;
init { x = 0x1F }
