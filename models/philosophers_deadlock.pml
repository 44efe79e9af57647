/*
 * Dining philosophers who can starve together.
 *
 * Models:     N philosophers around a table with N forks.  Everybody takes the
 *             left fork first, then the right one.
 * Source:     E. W. Dijkstra, 1965 (five computers and five tape drives);
 *             in the form with forks by C. A. R. Hoare.
 * Parameters: N (default 4)         number of philosophers, at least 2
 *             ONE_STEP (default 0)  1 = to take a fork counts as one step, not
 *                                   as two; the states are the same
 *             DANGER (default 0)    1 = a label where they wait for ever
 * Expected:   violated: invalid end state.  When all hold their left fork,
 *             nobody can ever move again.  The shortest run is 2 * N steps,
 *             or N with ONE_STEP=1.
 */
#ifndef N
#define N 4
#endif
#ifndef ONE_STEP
#define ONE_STEP 0
#endif
#ifndef DANGER
#define DANGER 0
#endif

#define LEFT    _pid
#define RIGHT   ((_pid + 1) % N)

bool taken[N];          /* taken[i]: fork i is in somebody's hand */
byte eating;            /* how many eat right now                 */

inline take(fork)
{
#if ONE_STEP
    d_step { !taken[fork] -> taken[fork] = true }
#else
    atomic { !taken[fork] -> taken[fork] = true }
#endif
}

active [N] proctype Philosopher()
{
    do
    :: take(LEFT);
#if DANGER
danger:
#endif
       take(RIGHT);
       eating++;
       assert(eating <= N / 2);
       eating--;
       taken[RIGHT] = false;
       taken[LEFT] = false
    od
}
