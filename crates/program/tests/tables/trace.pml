mtype = {a,b};
chan c = [2] of {mtype, byte};
chan d = [1] of {byte};
active proctype P() { byte z; c!a,1; c?b,z; d!3 }
trace { do :: c!a,1 -> if :: c?b,eval(1) :: d!3 -> break fi :: c?_,_ od; S: c!b,2; goto S }
