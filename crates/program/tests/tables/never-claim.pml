byte x;
active proctype P() { x = 1; x = 2 }
never { T0_init: if :: (x==1) -> goto accept_S4 :: (1) -> goto T0_init fi; accept_S4: if :: (x==2) -> goto accept_S4 fi; accept_all: skip }
