/*
 * Measuring with two jugs: a puzzle as a search for an assertion violation.
 *
 * Models:     two jugs of SMALL and LARGE litres, a tap and a drain.  The goal
 *             is to have exactly GOAL litres in one of them.
 * Source:     known since the thirteenth century; made popular by S. D. Poisson.
 * Parameters: SMALL (default 3), LARGE (default 5), GOAL (default 4)
 * Expected:   violated: the assertion fails when the goal is reached, after six
 *             pourings on the shortest trail.
 *             SMALL=4 LARGE=6 GOAL=3 is verified: an odd amount is out of reach.
 */
#ifndef SMALL
#define SMALL 3
#endif
#ifndef LARGE
#define LARGE 5
#endif
#ifndef GOAL
#define GOAL 4
#endif

byte small, large;

#define MIN(a, b)   ((a) < (b) -> (a) : (b))

inline pour(from, to, size)
{
    d_step {
        from > 0 && to < size ->
        amount = MIN(from, size - to);
        from = from - amount;
        to = to + amount;
        amount = 0
    }
}

active proctype Somebody()
{
    byte amount;

    do
    :: small < SMALL -> small = SMALL
    :: large < LARGE -> large = LARGE
    :: small > 0 -> small = 0
    :: large > 0 -> large = 0
    :: pour(small, large, LARGE)
    :: pour(large, small, SMALL)
    :: small == GOAL || large == GOAL -> assert(false)
    od
}
