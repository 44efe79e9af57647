/*
 * A ticket lock with a small counter.
 *
 * Models:     N threads draw tickets with fetch-and-add and wait until their
 *             number is served.  The counters have BITS bits and wrap around.
 * Source:     J. Mellor-Crummey and M. Scott, "Algorithms for scalable
 *             synchronization on shared-memory multiprocessors", 1991.
 * Parameters: N (default 4)     number of threads
 *             BITS (default 2)  width of the counters; 2 to the power of BITS
 *                               must not be less than N
 * Expected:   verified; first_come_first_served holds.  BITS=1 is violated: the
 *             assertion fails, two threads hold the same number.
 */
#ifndef N
#define N 4
#endif
#ifndef BITS
#define BITS 2
#endif

unsigned next_ticket : BITS;
unsigned now_serving : BITS;
byte inside;
bool has_ticket[N];

active [N] proctype Thread()
{
    unsigned my_ticket : BITS;

    do
    :: d_step {                         /* fetch and add */
           my_ticket = next_ticket;
           next_ticket++;
           has_ticket[_pid] = true
       };
       (now_serving == my_ticket);
       inside++;
cs:    assert(inside == 1);
       inside--;
       d_step {
           has_ticket[_pid] = false;
           now_serving++;
           my_ticket = 0
       }
    od
}

/* thread 1 draws while thread 0 has a ticket: thread 1 does not get in first */
ltl first_come_first_served {
    [] ((has_ticket[0] && !has_ticket[1]) -> (!Thread[1]@cs W (!has_ticket[0])))
}
