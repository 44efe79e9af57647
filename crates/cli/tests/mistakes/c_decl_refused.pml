byte x;
c_decl { int y; }
init { skip }
