/*
 * Fischer's timed mutual exclusion, with a discrete clock.
 *
 * Models:     N processes share one lock variable.  A process that sees it free
 *             writes its name within WRITE ticks, waits WAIT ticks, and enters
 *             if its name is still there.  The clock cannot tick past
 *             somebody's write deadline.
 * Source:     M. Fischer, 1985 (private mail, published in L. Lamport, "A fast
 *             mutual exclusion algorithm", 1987).
 * Parameters: N (default 3)      number of processes
 *             WRITE (default 1)  longest time between test and write
 *             WAIT (default 2)   time between write and second test
 * Expected:   verified as long as WAIT > WRITE.
 *             WAIT=1 is violated: the assertion fails.
 */
#ifndef N
#define N 3
#endif
#ifndef WRITE
#define WRITE 1
#endif
#ifndef WAIT
#define WAIT 2
#endif

#define FREE   255
#define NEVER  255

byte lock = FREE;
byte deadline[N] = NEVER;       /* ticks left to write               */
byte delay[N];                  /* ticks left to wait                */
byte urgent;                    /* processes with no tick left       */
byte inside;

active [N] proctype P()
{
    do
    :: d_step {
           lock == FREE ->
           deadline[_pid] = WRITE;
           urgent = urgent + (WRITE == 0)
       };
       d_step {
           lock = _pid;
           urgent = urgent - (deadline[_pid] == 0);
           deadline[_pid] = NEVER;
           delay[_pid] = WAIT
       };
       (delay[_pid] == 0);
       if
       :: lock == _pid ->
              inside++;
              assert(inside == 1);
              inside--;
              lock = FREE
       :: else
       fi
    od
}

active proctype Clock()
{
    byte i;

    do
    :: d_step {
           urgent == 0 ->
           for (i : 0 .. N - 1) {
               if
               :: deadline[i] != NEVER ->
                      deadline[i]--;
                      urgent = urgent + (deadline[i] == 0)
               :: else
               fi;
               if
               :: delay[i] > 0 -> delay[i]--
               :: else
               fi
           };
           i = 0
       }
    od
}
