/*
 * A barrier that can be used again and again: sense reversal.
 *
 * Models:     N threads work in rounds and meet at a barrier after each.  The
 *             last one to arrive flips a shared flag the others wait for.
 * Source:     D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
 *             synchronization", 1988.
 * Parameters: N (default 4)       number of threads
 *             BROKEN (default 0)  1 = threads wait for the counter to become 0
 *                                 instead of for the flag
 * Expected:   verified.  BROKEN=1 is violated: invalid end state, a fast thread
 *             is back at the barrier before a slow one saw it open.
 */
#ifndef N
#define N 4
#endif
#ifndef BROKEN
#define BROKEN 0
#endif

byte arrived;
bit sense;
unsigned round : 2 = 0;         /* rounds completed, modulo 4            */
unsigned lag : 3 = 0;           /* threads that have yet to leave        */

active [N] proctype Thread()
{
    bit my_sense;
    unsigned my_round : 2;

    do
    :: skip;                            /* work */
       my_sense = 1 - my_sense;
       atomic {
           arrived++;
           if
           :: arrived == N ->
                  assert(lag == 0);     /* nobody is a whole round behind */
                  arrived = 0;
                  sense = my_sense;
                  round++;
                  lag = N
           :: else
           fi
       };
       ((BROKEN && arrived == 0) || (!BROKEN && sense == my_sense));
       my_round++;
       assert(BROKEN || my_round == round);
       lag--
    od
}
