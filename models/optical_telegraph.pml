/*
 * The optical telegraph: stations that begin to send at the same time.
 *
 * Models:     a ring of N stations.  Each has two control processes, one for
 *             each neighbour, and one pair of hands, which either needs to
 *             signal a message or to take one down.  Who wants to send shows
 *             start, waits for attention, signals the data and then stop.
 * Source:     the shutter telegraph of the 18th century, after G. J. Holzmann,
 *             "Design and Validation of Computer Protocols", 1991, chapter 1;
 *             a benchmark of directed model checking.
 * Parameters: N (default 4)       number of stations, at least 2
 *             RULES (default 0)   1 = only the one towards the next station may
 *                                 begin, and at station 0 nobody
 *             DANGER (default 0)  1 = a label where processes wait for ever
 * Expected:   violated: invalid end state.  Two that face each other show start
 *             and both wait for attention; or everybody has the hands that
 *             somebody else waits for.  RULES=1 is verified.
 */
#ifndef N
#define N 4
#endif
#ifndef RULES
#define RULES 0
#endif
#ifndef DANGER
#define DANGER 0
#endif

mtype = { start, attention, data, stop };

chan east[N] = [1] of { mtype };        /* from station i to the next one    */
chan west[N] = [1] of { mtype };        /* and back to i                     */
chan hands[N] = [1] of { bit };         /* full: somebody works at station i */

inline take_down()
{
    hands[me]!1;
    out!attention;
    do
    :: in?data
    :: in?stop -> break
    od;
    hands[me]?1
}

proctype Control(byte me; chan in, out)
{
end:
    do
    :: in?start -> take_down()
    :: out!start ->
#if DANGER
danger:
#endif
           in?attention;
           hands[me]!1;
           do
           :: out!data
           :: out!stop -> break
           od;
           hands[me]?1
    od
}

proctype Watch(byte me; chan in, out)           /* never begins */
{
end:
    do
    :: in?start -> take_down()
    od
}

#define BEFORE(i)   ((i + N - 1) % N)

init {
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            if
            :: !RULES || i > 0 -> run Control(i, west[i], east[i])
            :: else -> run Watch(i, west[i], east[i])
            fi;
            if
            :: !RULES -> run Control(i, east[BEFORE(i)], west[BEFORE(i)])
            :: else -> run Watch(i, east[BEFORE(i)], west[BEFORE(i)])
            fi
        }
    }
}
