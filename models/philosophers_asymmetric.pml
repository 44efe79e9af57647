/*
 * Dining philosophers with one left-hander: no deadlock.
 *
 * Models:     N philosophers and N forks, each fork a process of its own that
 *             is taken and put back by a handshake.  The last philosopher
 *             takes the forks in the other order, which breaks the circle.
 * Source:     E. W. Dijkstra, "Hierarchical ordering of sequential processes",
 *             1971 (ordered resources).
 * Parameters: N (default 3)  number of philosophers, at least 2
 * Expected:   verified; the formula somebody_eats holds.
 */
#ifndef N
#define N 3
#endif

mtype = { take, put };

chan fork[N] = [0] of { mtype, pid };
byte eating;

proctype Fork(byte i)
{
    pid owner;
end:
    do
    :: fork[i]?take(owner);
       fork[i]?put(eval(owner))         /* only the owner may put it back */
    od
}

proctype Philosopher(byte first, second)
{
    do
    :: fork[first]!take(_pid);
       fork[second]!take(_pid);
       eating++;
       assert(eating <= N / 2);
       eating--;
       fork[second]!put(_pid);
       fork[first]!put(_pid)
    od
}

init {
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            run Fork(i)
        }
        for (i : 0 .. N - 2) {
            run Philosopher(i, i + 1)
        }
        run Philosopher(0, N - 1)       /* the left-hander */
    }
}

ltl somebody_eats { [] <> (eating > 0) }
