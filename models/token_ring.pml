/*
 * Mutual exclusion with a token that goes around a ring.
 *
 * Models:     N stations pass a token by handshakes.  Whoever holds it may use
 *             the shared bus.  The token carries the name of the station that
 *             it is meant for.
 * Source:     G. Le Lann, "Distributed systems: towards a formal approach",
 *             1977; IEEE 802.5.
 * Parameters: N (default 5)      number of stations
 *             LOSSY (default 0)  1 = a station may fail and swallow the token
 * Expected:   verified; one_at_a_time and everybody_gets_a_turn hold.
 *             LOSSY=1 is violated: invalid end state, all wait for the token.
 */
#ifndef N
#define N 5
#endif
#ifndef LOSSY
#define LOSSY 0
#endif

chan link[N] = [0] of { byte };
byte using;

active [N] proctype Station()
{
    byte next = (_pid + 1) % N;

    if
    :: _pid == 0 -> goto has_token      /* the token starts here */
    :: else
    fi;

waits:
    link[_pid]?eval(_pid);

has_token:
    if
    :: true ->
           using++;
           assert(using == 1);
           using--
    :: true                             /* nothing to send */
#if LOSSY
    :: goto waits
#endif
    fi;
    link[next]!next;
    goto waits
}

ltl one_at_a_time         { [] (using <= 1) }
ltl everybody_gets_a_turn { [] <> Station[2]@has_token }
