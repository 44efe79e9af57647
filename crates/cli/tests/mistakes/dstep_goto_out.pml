init { d_step { skip; goto L }; L: skip }
