/*
 * Dining cryptographers: somebody paid, but who?
 *
 * Models:     N cryptographers, at most one of whom has paid the dinner.  Each
 *             flips a coin that only the right neighbour sees too, and says
 *             whether the two coins at hand differ; the payer says the
 *             opposite.  The number of "different" tells whether one of them
 *             paid.
 * Source:     D. Chaum, "The dining cryptographers problem: unconditional sender
 *             and recipient untraceability", 1988.
 * Parameters: N (default 4)
 * Expected:   verified.
 */
#ifndef N
#define N 4
#endif

#define NOBODY  N

bit coin[N];
bool flipped[N];
byte payer;
bit parity;             /* of all announcements so far */
byte announced;

proctype Cryptographer(byte me)
{
    bit mine;
    byte left = (me + N - 1) % N;

    if
    :: mine = 0
    :: mine = 1
    fi;
    d_step {
        coin[me] = mine;
        flipped[me] = true
    };
    flipped[left];
    d_step {
        parity = parity ^ coin[left] ^ mine ^ (payer == me);
        announced++
    }
}

init {
    byte i;

    atomic {
        select (payer : 0 .. NOBODY);
        for (i : 0 .. N - 1) {
            run Cryptographer(i)
        }
    };
    (announced == N);
    assert(parity == (payer != NOBODY))
}
