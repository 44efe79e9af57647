/*
 * Clients that share something, and a server that lends it to one at a time.
 *
 * Models:     N clients, all alike, ask a server by one channel and get its
 *             answer by a channel of their own.  The server serves who came first
 *             when it has got back what it lent.
 * Source:     the usual textbook example of a central lock manager, as in
 *             A. Tanenbaum and M. van Steen, "Distributed systems", 2002,
 *             section 5.3.
 * Parameters: N (default 3)      number of clients
 *             HASTY (default 0)  1: the server does not wait for what it lent
 * Expected:   verified.  HASTY=1 is violated: the assertion fails, two clients
 *             use the same thing.  With --symmetry on, clients need not be told
 *             apart, and the states are fewer by more than a factor of N.
 */
#ifndef N
#define N 3
#endif
#ifndef HASTY
#define HASTY 0
#endif
#define NOBODY 255

mtype = { ask, back };

chan server = [N] of { mtype, byte };
chan waiting = [N] of { byte };
chan yours[N] = [1] of { bit };
byte using;

proctype Client(byte id)
{
    do
    :: server!ask, id;
       yours[id]?1;
       using++;
       assert(using == 1);
       using--;
       server!back, id
    od
}

proctype Server()
{
    byte who, holder = NOBODY;

    do
    :: server?ask, who ->
       waiting!who
    :: server?back, who ->
       assert(holder == who || HASTY);
       holder = NOBODY
    :: nempty(waiting) && (holder == NOBODY || HASTY) ->
       waiting?holder;
       yours[holder]!1
    od
}

init
{
    byte i;

    atomic {
        run Server();
        for (i : 0 .. N - 1) {
            run Client(i)
        }
    }
}
