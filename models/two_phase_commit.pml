/*
 * Two-phase commit, and what happens when the coordinator stops.
 *
 * Models:     a coordinator asks N participants to vote, decides, and tells
 *             them.  A participant that voted yes may do nothing until it hears
 *             the decision.
 * Source:     J. Gray, "Notes on data base operating systems", 1978.
 * Parameters: N (default 3)      number of participants
 *             CRASH (default 0)  1 = the coordinator may stop at any moment
 * Expected:   verified.  CRASH=1 is violated: invalid end state, participants
 *             that voted yes are blocked.
 */
#ifndef N
#define N 3
#endif
#ifndef CRASH
#define CRASH 0
#endif

mtype = { prepare, yes, no, commit, abort, undecided };

chan to[N] = [1] of { mtype };
chan votes = [N] of { mtype };
mtype outcome[N] = undecided;

#if CRASH
#define MAY_CRASH   if :: true :: goto stopped fi
#else
#define MAY_CRASH   skip
#endif

active proctype Coordinator()
{
    byte i;
    mtype decision = commit;
    mtype vote;

    for (i : 0 .. N - 1) {
        MAY_CRASH;
        to[i]!prepare
    }
    for (i : 1 .. N) {
        votes?vote;
        if
        :: vote == no -> decision = abort
        :: vote == yes
        fi
    }
    for (i : 0 .. N - 1) {
        MAY_CRASH;
        to[i]!decision
    }
#if CRASH
stopped:
    skip
#endif
}

proctype Participant(byte me)
{
    byte i;

end_not_asked:
    to[me]?prepare;
    if
    :: votes!yes ->
           to[me]?outcome[me]
    :: votes!no ->
           outcome[me] = abort;
           to[me]?_
    fi;
    for (i : 0 .. N - 1) {
        assert(outcome[i] == undecided || outcome[i] == outcome[me])
    }
}

init {
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            run Participant(i)
        }
    }
}
