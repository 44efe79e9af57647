/*
 * Detecting that a distributed computation is over.
 *
 * Models:     N machines send each other work.  An idle machine becomes active
 *             again when work arrives.  A token goes around the ring, and comes
 *             back black if a machine behind it may have been woken up.
 * Source:     E. W. Dijkstra, W. Feijen, A. van Gasteren, "Derivation of a
 *             termination detection algorithm for distributed computations",
 *             1983 (EWD 840).
 * Parameters: N (default 4)         number of machines
 *             COLOURS (default 1)   0 = machines do not blacken themselves
 * Expected:   verified; the formula it_is_noticed holds under weak fairness.
 *             COLOURS=0 is violated: the assertion fails.
 */
#ifndef N
#define N 4
#endif
#ifndef COLOURS
#define COLOURS 1
#endif

mtype = { white, black };

bool is_active[N] = true;
byte active_machines = N;
mtype colour[N] = white;
mtype token = black;
byte holder;                    /* of the token; it goes N - 1, ..., 1, 0 */
bool detected;

active [N] proctype Machine()
{
    byte i;

end:
    do
    :: atomic {                         /* out of work */
           is_active[_pid] ->
           is_active[_pid] = false;
           active_machines--
       }
    :: atomic {                         /* sends work; it arrives at once */
           is_active[_pid] ->
           select (i : 0 .. N - 1);
           if
           :: !is_active[i] -> is_active[i] = true; active_machines++
           :: else
           fi;
           if
           :: i > _pid && COLOURS -> colour[_pid] = black
           :: else
           fi;
           i = 0
       }
    :: atomic {                         /* passes the token on */
           _pid > 0 && holder == _pid && !is_active[_pid] ->
           if
           :: colour[_pid] == black -> token = black
           :: else
           fi;
           colour[_pid] = white;
           holder = _pid - 1
       }
    :: atomic {                         /* machine 0 looks at the token */
           _pid == 0 && holder == 0 && !is_active[0] && !detected ->
           if
           :: token == white && colour[0] == white ->
                  detected = true;
                  assert(active_machines == 0)
           :: else ->                   /* and starts another probe */
                  token = white;
                  colour[0] = white;
                  holder = N - 1
           fi
       }
    od
}

ltl it_is_noticed { (<> [] (active_machines == 0)) -> <> detected }
