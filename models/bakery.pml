/*
 * Lamport's bakery: first come, first served without atomic registers.
 *
 * Models:     N customers draw a number larger than all they have seen, then
 *             wait for everybody with a smaller number.  Numbers are read one
 *             by one, so two customers may draw the same number.
 * Source:     L. Lamport, "A new solution of Dijkstra's concurrent programming
 *             problem", 1974.
 * Parameters: N (default 2)        number of customers
 *             ROUNDS (default 3)   purchases per customer (numbers grow without
 *                                  bound in the algorithm, this keeps them small)
 *             CHOOSING (default 1) 0 = leave out the choosing flag
 * Expected:   verified.  CHOOSING=0 is violated: the assertion fails.
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef CHOOSING
#define CHOOSING 1
#endif

bool choosing[N];
byte number[N];
byte inside;

/* (number, pid) pairs in lexicographic order: does j come before me? */
#define BEFORE(j) \
    (number[j] < number[_pid] || (number[j] == number[_pid] && j < _pid))

active [N] proctype Customer()
{
    byte round, j, max;

    for (round : 1 .. ROUNDS) {
        choosing[_pid] = CHOOSING;
        max = 0;
        for (j : 0 .. N - 1) {
            max = (number[j] > max -> number[j] : max)
        }
        number[_pid] = max + 1;
        choosing[_pid] = false;

        for (j : 0 .. N - 1) {
            !choosing[j];
            (number[j] == 0 || !BEFORE(j))
        }

        inside++;
        assert(inside == 1);
        inside--;
        number[_pid] = 0
    }
}
