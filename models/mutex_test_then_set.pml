/*
 * Mutual exclusion with a seeded bug: test and set in two steps.
 *
 * Models:     N processes guard a critical section with one shared flag, but
 *             look at it and set it in two separate steps.
 * Source:     the folklore first attempt; E. W. Dijkstra, "Cooperating
 *             sequential processes", 1965, discusses it.
 * Parameters: N (default 2)       number of processes
 *             ATOMIC (default 0)  1 = test and set in one step
 * Expected:   violated: the assertion fails.  ATOMIC=1 is verified.
 */
#ifndef N
#define N 2
#endif
#ifndef ATOMIC
#define ATOMIC 0
#endif

bit busy;
byte inside;

active [N] proctype P()
{
    do
    ::
#if ATOMIC
       d_step { !busy -> busy = 1 };
#else
       !busy;
       busy = 1;
#endif
       inside++;
       assert(inside == 1);
       inside--;
       busy = 0
    od
}
