byte x,y;
active proctype P() { { x++; x-- ; do :: x<3 -> x++ :: else -> break od } unless { if :: y==1 -> y=2 :: y==2 -> y = 3 fi; x = 7 }; skip }
