/*
 * Peterson's mutual exclusion for two processes.
 *
 * Models:     the two-process algorithm with one flag each and a shared turn.
 * Source:     G. L. Peterson, "Myths about the mutual exclusion problem", 1981.
 * Parameters: SWAPPED (default 0)  1 = the classic mistake: the turn is given
 *             away before the own flag is raised
 * Expected:   verified; mutual_exclusion and no_starvation hold, the latter
 *             even without fairness: the other process cannot go round twice.
 *             SWAPPED=1 is violated: the assertion fails.
 */
#ifndef SWAPPED
#define SWAPPED 0
#endif

bool flag[2];
byte turn;
byte inside;            /* processes in the critical section */

active [2] proctype P()
{
    byte me = _pid;
    byte other = 1 - _pid;

    do
    ::
#if SWAPPED
       turn = other;
       flag[me] = true;
#else
       flag[me] = true;
       turn = other;
#endif
waiting:
       (!flag[other] || turn == me);
       inside++;
critical:
       assert(inside == 1);
       inside--;
       flag[me] = false
    od
}

ltl mutual_exclusion { [] !(P[0]@critical && P[1]@critical) }
ltl no_starvation    { [] (P[0]@waiting -> <> P[0]@critical) }
