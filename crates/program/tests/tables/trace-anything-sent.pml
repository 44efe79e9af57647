chan c = [2] of { byte, byte };
active proctype P() { c!1,2; c!3,4 }
trace { do :: c!1,_; c!_,4 od }
