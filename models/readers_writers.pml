/*
 * Readers and writers, writers first.
 *
 * Models:     READERS readers may read together, a writer needs to be alone.
 *             A waiting writer keeps new readers out.
 * Source:     P. J. Courtois, F. Heymans, D. L. Parnas, "Concurrent control
 *             with readers and writers", 1971 (second problem).
 * Parameters: READERS (default 3), WRITERS (default 2)
 *             BUG (default 0)  1 = a writer starts without looking for readers
 * Expected:   verified; writers_get_in holds under weak fairness,
 *             readers_get_in fails (writers may keep readers out for ever).
 *             BUG=1 is violated: the assertion fails.
 */
#ifndef READERS
#define READERS 3
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef BUG
#define BUG 0
#endif

byte reading, writing, waiting;         /* reading: readers inside, ... */

active [READERS] proctype Reader()
{
    do
    :: atomic {
           writing == 0 && waiting == 0 -> reading++
       };
inside:
       assert(writing == 0);
       reading--
    od
}

active [WRITERS] proctype Writer()
{
    do
    :: waiting++;
       atomic {
           writing == 0 && (BUG || reading == 0) ->
           writing++;
           waiting--
       };
       assert(writing == 1 && reading == 0);
       writing--
    od
}

ltl writers_get_in { [] (waiting > 0 -> <> (writing > 0)) }
ltl readers_get_in { [] <> (reading > 0) }
