/*
 * Producers and consumers joined by one channel.
 *
 * Models:     PRODUCERS processes put numbered items into a channel, CONSUMERS
 *             take them out until they see an end mark.  The main process waits
 *             for all of them and checks that nothing was lost or doubled.
 * Source:     E. W. Dijkstra, "Cooperating sequential processes", 1965.
 * Parameters: PRODUCERS (default 2), CONSUMERS (default 2)
 *             ITEMS (default 3)  items per producer
 *             SIZE (default 2)   capacity of the channel
 * Expected:   verified.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef ITEMS
#define ITEMS 3
#endif
#ifndef SIZE
#define SIZE 2
#endif

mtype = { item, stop };

chan belt = [SIZE] of { mtype, byte, byte };    /* kind, producer, number */
byte taken[PRODUCERS * ITEMS];

proctype Producer(byte me)
{
    byte i;

    for (i : 0 .. ITEMS - 1) {
        belt!item(me, i)
    }
}

proctype Consumer()
{
    byte who, i;

    do
    :: belt?item(who, i) ->
           taken[who * ITEMS + i]++;
           assert(taken[who * ITEMS + i] == 1)
    :: belt?stop(_, _) ->
           break
    od
}

init {
    byte i;

    atomic {
        for (i : 1 .. CONSUMERS) {
            run Consumer()
        }
        for (i : 0 .. PRODUCERS - 1) {
            run Producer(i)
        }
    }
    (_nr_pr == 1 + CONSUMERS);          /* the producers are gone ...    */
    for (i : 1 .. CONSUMERS) {
        belt!stop(0, 0)
    }
    (_nr_pr == 1);                      /* ... and so are the consumers  */
    for (i in taken) {
        assert(taken[i] == 1)
    }
    assert(empty(belt))
}
