/*
 * Szymanski's mutual exclusion: a waiting room with two doors.
 *
 * Models:     N processes with one five-valued flag each.  Processes gather in
 *             the waiting room; the last one in closes the entrance and opens
 *             the exit.  Flags are inspected one at a time.
 * Source:     B. K. Szymanski, "A simple solution to Lamport's concurrent
 *             programming problem with linear wait", 1988.
 * Parameters: N (default 3)  number of processes
 * Expected:   verified.
 */
#ifndef N
#define N 3
#endif

#define OUTSIDE  0
#define INTENT   1      /* wants to enter                      */
#define WAITING  2      /* in the room, waits for the others   */
#define DOORWAY  3      /* standing in the entrance            */
#define CLOSED   4      /* in the room, the entrance is closed */

byte flag[N];
byte inside;

active [N] proctype P()
{
    byte j;
    bool company;

    do
    :: flag[_pid] = INTENT;
       for (j : 0 .. N - 1) {
           (flag[j] < DOORWAY)          /* wait until the entrance is open */
       }
       flag[_pid] = DOORWAY;

       company = false;
       for (j : 0 .. N - 1) {
           company = (company || flag[j] == INTENT)
       }
       if
       :: company ->
              flag[_pid] = WAITING;
              j = 0;
              do                        /* until somebody closes the entrance */
              :: flag[j] == CLOSED -> break
              :: flag[j] != CLOSED -> j = (j + 1) % N
              od
       :: else
       fi;
       flag[_pid] = CLOSED;

       for (j : 0 .. N - 1) {           /* smaller numbers leave first */
           (j >= _pid || flag[j] < WAITING)
       }
       inside++;
       assert(inside == 1);
       inside--;
       for (j : 0 .. N - 1) {           /* all in the room must know it is closed */
           (j <= _pid || flag[j] < WAITING || flag[j] == CLOSED)
       }
       flag[_pid] = OUTSIDE
    od
}
