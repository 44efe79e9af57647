/*
 * Dekker's mutual exclusion: the first solution for two processes.
 *
 * Models:     two processes, a wish flag each, and a turn that settles
 *             conflicts.  A process may stay in its non-critical part for ever.
 * Source:     T. J. Dekker, reported by E. W. Dijkstra, "Cooperating
 *             sequential processes", 1965.
 * Parameters: none
 * Expected:   verified; no_starvation holds under weak fairness.
 */
mtype = { idle, trying, critical };

bool wants[2];
byte turn;
mtype where[2] = idle;

active [2] proctype P()
{
    do
    :: true;                            /* non-critical section */
       wants[_pid] = true;
       where[_pid] = trying;
       do
       :: !wants[1 - _pid] -> break
       :: wants[1 - _pid] && turn != _pid ->
              wants[_pid] = false;
              (turn == _pid);
              wants[_pid] = true
       :: wants[1 - _pid] && turn == _pid ->
              skip                      /* insist: look again */
       od;
       where[_pid] = critical;
       assert(where[1 - _pid] != critical);
       where[_pid] = idle;
       turn = 1 - _pid;
       wants[_pid] = false
    od
}

ltl no_starvation { [] (where[0] == trying -> <> (where[0] == critical)) }
