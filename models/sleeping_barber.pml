/*
 * The sleeping barber and a lost wake-up.
 *
 * Models:     a barber sleeps when nobody waits; a customer wakes him, waits on
 *             one of CHAIRS chairs, or goes away when all are taken.
 * Source:     E. W. Dijkstra, "Cooperating sequential processes", 1965.
 * Parameters: CUSTOMERS (default 4), CHAIRS (default 2)
 *             RACE (default 0)  1 = the barber looks at the chairs and falls
 *                               asleep in two separate steps
 * Expected:   verified.  RACE=1 is violated: invalid end state, a customer
 *             waits on a chair while the barber sleeps.
 */
#ifndef CUSTOMERS
#define CUSTOMERS 4
#endif
#ifndef CHAIRS
#define CHAIRS 2
#endif
#ifndef RACE
#define RACE 0
#endif

mtype:barber = { working, asleep };

mtype:barber barber = working;
chan queue = [CHAIRS] of { pid };       /* who waits, in order          */
chan done  = [0] of { pid };            /* a haircut is finished        */
byte served, turned_away;

active proctype Barber()
{
    pid customer;

    do
    :: queue?customer ->
           done!customer;
           served++
    :: atomic { empty(queue) ->
#if RACE
       };
       atomic {
#endif
           barber = asleep
       };
end_asleep:
       (barber == working)
    od
}

active [CUSTOMERS] proctype Customer()
{
    if
    :: atomic { nfull(queue) -> queue!_pid };
       if
       :: atomic { barber == asleep -> barber = working }
       :: barber == working
       fi;
       done?eval(_pid)
    :: full(queue) ->
       turned_away++
    fi;
    assert(served + turned_away <= CUSTOMERS)
}
