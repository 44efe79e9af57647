byte x,y,z;
active proctype P() { { { x = 1; x = 2 } unless { y == 1; y = 2; y = 3 } ; x = 4 } unless { z == 1 -> z = 2 }; skip }
