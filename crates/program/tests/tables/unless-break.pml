byte x,y,z;
active proctype P() { do :: do :: x < 3 -> x++ :: x == 3 -> break od unless { y==1 -> break } od; x = 9; E: skip }
