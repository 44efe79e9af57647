mtype = {a,b};
chan c = [2] of {mtype, byte};
active proctype P() { c!a,1; c!b,2 }
notrace { if :: c!a,1; c!b,2 fi; end: c!a,2 }
