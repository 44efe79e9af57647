/*
 * Mutual exclusion by messages that arrive in time.
 *
 * Models:     N nodes, and a link from each to every other, which delivers messages in
 *             their order, each within DELAY ticks.  A node that knows of no claim of
 *             another sends a claim to all, waits WAIT ticks, and enters, unless it
 *             has heard by then of a claim of a node with a smaller number.  Who
 *             leaves or gives up tells all.  The clock cannot tick past the deadline
 *             of a message.
 * Source:     in the manner of H. Dierks, "Comparing model checking and logical
 *             reasoning for real-time systems", 2004, whose protocol (real-time mutual
 *             exclusion in a distributed system with asynchronous communication)
 *             with erroneous bounds is benchmark M and N of K. Draeger, B. Finkbeiner
 *             and A. Podelski, "Directed model checking with distance-preserving
 *             abstractions", 2006; this protocol is our own.
 * Parameters: N (default 2)      number of nodes, at most 7
 *             DELAY (default 1)  longest time that a message takes
 *             WAIT (default 3)   time between claim and entry, more than DELAY
 * Expected:   verified as long as WAIT > 2 * DELAY: a rival may claim just before it
 *             hears of a claim, and its own takes as long again.
 *             WAIT=2 is violated: the assertion fails.
 */
#ifndef N
#define N 2
#endif
#ifndef DELAY
#define DELAY 1
#endif
#ifndef WAIT
#define WAIT 3
#endif

#define LINKS   (N * (N - 1))

mtype = { claim, leave };

/* link l goes from node FROM(l) to node TO(l); those of a node stand together */
#define FROM(l)     ((l) / (N - 1))
#define TO(l)       ((l) % (N - 1) + ((l) % (N - 1) >= FROM(l)))
#define FIRST(n)    ((n) * (N - 1))

chan link[LINKS] = [3] of { mtype, byte };      /* with the ticks left */
byte due;                                       /* messages with no tick left */
byte wait[N];                                   /* ticks left to wait */
byte claims[N];                                 /* whose a node knows, a bit for each */
byte inside;

#define RIVALS      (claims[_pid] & ((1 << _pid) - 1))

inline tell(what)
{
    for (l : FIRST(_pid) .. FIRST(_pid) + N - 2) {
        link[l]!what(DELAY)
    };
    l = 0
}

active [N] proctype Node()
{
    byte l;

    do
    :: d_step {
           claims[_pid] == 0 ->
           tell(claim);
           wait[_pid] = WAIT
       };
       (wait[_pid] == 0);
       if
       :: RIVALS == 0 ->
              inside++;
              assert(inside == 1);
              d_step {
                  inside--;
                  tell(leave)
              }
       :: RIVALS != 0 ->
              d_step { tell(leave) }
       fi
    od
}

active [LINKS] proctype Link()
{
    byte me = _pid - N;
    byte left;

    do
    :: d_step {
           link[me]?claim(left) ->
           claims[TO(me)] = claims[TO(me)] | (1 << FROM(me));
           due = due - (left == 0);
           left = 0
       }
    :: d_step {
           link[me]?leave(left) ->
           claims[TO(me)] = claims[TO(me)] & ~(1 << FROM(me));
           due = due - (left == 0);
           left = 0
       }
    od
}

active proctype Clock()
{
    byte i, k, left;
    mtype what;

    do
    :: d_step {
           due == 0 ->
           for (i : 0 .. N - 1) {
               if
               :: wait[i] > 0 -> wait[i]--
               :: else
               fi
           };
           for (i : 0 .. LINKS - 1) {
               for (k : 1 .. len(link[i])) {
                   link[i]?what(left);
                   left--;
                   due = due + (left == 0);
                   link[i]!what(left)
               }
           };
           i = 0;
           k = 0;
           left = 0;
           what = 0
       }
    od
}
