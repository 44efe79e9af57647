/*
 * Leader election in a one-way ring: the largest number wins.
 *
 * Models:     N nodes with different numbers in every possible order around the
 *             ring.  A node passes larger numbers on and drops smaller ones;
 *             who gets the own number back is the leader.
 * Source:     E. Chang and R. Roberts, "An improved algorithm for decentralized
 *             extrema-finding in circular configurations of processes", 1979.
 * Parameters: N (default 4)  number of nodes
 * Expected:   verified.
 */
#ifndef N
#define N 4
#endif

mtype = { candidate, elected };

chan ring[N] = [N] of { mtype, byte };
byte leaders;

proctype Node(byte position, number)
{
    byte n;
    chan in = ring[position];
    chan out = ring[(position + 1) % N];

    out!candidate(number);
    do
    :: in?candidate(n) ->
           if
           :: n > number -> out!candidate(n)
           :: n < number -> skip
           :: n == number ->
                  leaders++;
                  assert(leaders == 1);
                  assert(number == N);
                  out!elected(number)
           fi
    :: in?elected(n) ->
           assert(n == N);
           if
           :: n != number -> out!elected(n)
           :: else
           fi;
           break
    od
}

init {
    byte i, number;
    bool used[N + 1];

    atomic {
        for (i : 0 .. N - 1) {
            select (number : 1 .. N);   /* any number not yet given away ... */
            do
            :: !used[number] -> break
            :: used[number] -> number = number % N + 1
            od;
            used[number] = true;
            run Node(i, number)
        };
        number = 0
    };
    (_nr_pr == 1);                      /* ... and all nodes have ended */
    assert(leaders == 1)
}
