/*
 * Consensus: single-decree Paxos.
 *
 * Models:     two proposers with one ballot each and ACCEPTORS acceptors.  A
 *             proposer that gets promises from a quorum proposes the value of
 *             the highest ballot it heard of, or its own.  A value is chosen
 *             when a quorum accepted it in the same ballot; two different
 *             values must never be chosen.  Messages may overtake each other
 *             (random receive) and be delayed for ever, which covers loss.
 * Source:     L. Lamport, "The part-time parliament", 1998.
 * Parameters: ACCEPTORS (default 3)
 *             QUORUM (default 2)  must be more than half of the acceptors
 * Expected:   verified.  QUORUM=1 is violated: the assertion fails.
 */
#ifndef ACCEPTORS
#define ACCEPTORS 3
#endif
#ifndef QUORUM
#define QUORUM 2
#endif

#define PROPOSERS   2

mtype = { prepare, accept };

chan to_acceptor[ACCEPTORS] = [2 * PROPOSERS] of { mtype, byte, byte };
chan promise[PROPOSERS] = [ACCEPTORS] of { byte, byte };    /* ballot, value */

byte votes[PROPOSERS + 1];      /* votes[b]: acceptors that accepted ballot b */
byte chosen;                    /* 0 = nothing yet                            */

proctype Proposer(byte ballot)
{
    byte i, b, v;
    byte highest = 0;
    byte value = ballot;        /* its own wish, if nothing is accepted yet */

    atomic {
        for (i : 0 .. ACCEPTORS - 1) {
            to_acceptor[i]!prepare(ballot, 0)
        }
    }
    for (i : 1 .. QUORUM) {
end:    promise[ballot - 1]?b,v;
        if
        :: b > highest -> highest = b; value = v
        :: else
        fi
    }
    atomic {
        for (i : 0 .. ACCEPTORS - 1) {
            to_acceptor[i]!accept(ballot, value)
        }
    }
}

proctype Acceptor(chan in)
{
    byte ballot, value;
    byte promised;
    byte accepted_ballot, accepted_value;

end:
    do
    :: in??prepare(ballot, _) ->
           if
           :: ballot > promised ->
                  promised = ballot;
                  promise[ballot - 1]!accepted_ballot,accepted_value
           :: else
           fi
    :: in??accept(ballot, value) ->
           if
           :: ballot >= promised ->
                  d_step {
                      promised = ballot;
                      accepted_ballot = ballot;
                      accepted_value = value;
                      votes[ballot]++
                  };
                  if
                  :: votes[ballot] >= QUORUM ->
                         assert(chosen == 0 || chosen == value);
                         chosen = value
                  :: else
                  fi
           :: else
           fi
    od
}

init {
    byte i;

    atomic {
        for (i : 0 .. ACCEPTORS - 1) {
            run Acceptor(to_acceptor[i])
        }
        for (i : 1 .. PROPOSERS) {
            run Proposer(i)
        }
    }
}
