/*
 * Byzantine generals: agreement although one of them lies.
 *
 * Models:     a commander sends an order to the lieutenants, who tell each other
 *             what they heard and follow the majority (oral messages, one
 *             round).  One general, chosen freely, is a traitor and tells
 *             everybody what he likes.
 * Source:     L. Lamport, R. Shostak, M. Pease, "The Byzantine generals
 *             problem", 1982.
 * Parameters: GENERALS (default 4)  commander included
 * Expected:   verified for 4 generals.  GENERALS=3 is violated: the assertion
 *             fails, three cannot cope with one traitor.
 */
#ifndef GENERALS
#define GENERALS 4
#endif

#define RETREAT     0
#define ATTACK      1
#define LIEUTENANTS (GENERALS - 1)
#define COMMANDER   LIEUTENANTS

typedef Row {
    bit from[LIEUTENANTS]
};

Row heard[LIEUTENANTS];         /* heard[a].from[b]: what b told a           */
bit decision[LIEUTENANTS];
bool ordered[LIEUTENANTS];      /* the commander's order has arrived         */
byte told[LIEUTENANTS];         /* messages received                         */
byte decided;
bit order;
byte traitor;

proctype Lieutenant(byte me)
{
    byte other, yes;
    bit word;

    ordered[me];
    for (other : 0 .. LIEUTENANTS - 1) {
        if
        :: other != me ->
               word = heard[me].from[me];
               if
               :: traitor == me -> word = 1 - word
               :: true
               fi;
               d_step {
                   heard[other].from[me] = word;
                   told[other]++
               }
        :: else
        fi
    }
    (told[me] == LIEUTENANTS);
    d_step {
        for (other : 0 .. LIEUTENANTS - 1) {
            yes = yes + heard[me].from[other]
        };
        /* a tie means retreat */
        decision[me] = (2 * yes > LIEUTENANTS -> ATTACK : RETREAT);
        decided++
    }
}

init {
    byte i, a, b;
    bit word;

    atomic {
        select (traitor : 0 .. GENERALS - 1);
        if
        :: order = RETREAT
        :: order = ATTACK
        fi;
        for (i : 0 .. LIEUTENANTS - 1) {
            run Lieutenant(i)
        }
    };
    for (i : 0 .. LIEUTENANTS - 1) {
        word = order;
        if
        :: traitor == COMMANDER -> word = 1 - order
        :: true
        fi;
        d_step {
            heard[i].from[i] = word;
            ordered[i] = true;
            told[i]++
        }
    };
    (decided == LIEUTENANTS);
    d_step {
        for (a : 0 .. LIEUTENANTS - 1) {
            /* if the commander is loyal, the loyal lieutenants obey */
            assert(a == traitor || traitor == COMMANDER || decision[a] == order);
            for (b : 0 .. LIEUTENANTS - 1) {
                /* the loyal lieutenants agree */
                assert(a == traitor || b == traitor || decision[a] == decision[b])
            }
        }
    }
}
