/*
 * A tour of the rarer predicates: enabled, pc_value, hidden, D_proctype, notrace.
 *
 * Models:     two counters that take turns and report, and a reader that looks
 *             at them from outside.
 * Source:     written for this collection from the Promela manual pages.
 * Parameters: TWICE (default 0)  1 = counter 1 reports twice in a row
 * Expected:   verified.  TWICE=1 is violated: trace error, the sequence that
 *             notrace forbids (two reports of counter 1 in a row) was seen.
 * Note:       enabled and pc_value are meant for claims; SPIN warns about them.
 */
#ifndef TWICE
#define TWICE 0
#endif

byte turn;
hidden byte scratch;            /* not part of the state */
chan report = [2] of { byte };

active [2] D_proctype Counter()
{
    byte n;

    do
    :: n < 3 && turn == _pid ->
           n++;
           scratch = n;
           report!_pid;
#if TWICE
           if
           :: _pid == 1 -> report!_pid
           :: _pid != 1
           fi;
#endif
           turn = 1 - _pid
    :: n == 3 ->
           break
    od
}

active proctype Reader()
{
    byte who;

    do
    :: report?who ->
           assert(who <= 1)
    :: empty(report) && !enabled(0) && !enabled(1) ->
           assert(pc_value(0) == pc_value(1));  /* both have come to the end */
           break
    od
}

notrace {
    do
    :: report!0
    :: report!1;
       if
       :: report!0
       :: report!1 -> break
       fi
    od
}
