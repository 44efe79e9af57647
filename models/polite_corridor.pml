/*
 * Two polite people in a corridor: a livelock.
 *
 * Models:     two people walk towards each other and step aside in the same
 *             direction, again and again.  Nothing is ever blocked, but there
 *             is a run without progress.
 * Source:     folklore; the term is E. A. Ashcroft's, 1975.
 * Parameters: RUDE (default 0)  1 = person 0 insists on the left side
 * Expected:   verified for safety.  There is a non-progress cycle, and an
 *             acceptance cycle through accept_aside.
 *             RUDE=1 has neither.
 */
#ifndef RUDE
#define RUDE 0
#endif

mtype = { left, right };

mtype side[2] = left;           /* as seen from one end of the corridor */
bool passed;

active [2] proctype Person()
{
    byte other = 1 - _pid;

    do
    :: atomic { side[_pid] != side[other] -> passed = true };
progress_passed:
       break
    :: passed ->
       break
    :: side[_pid] == side[other] && !passed && !(RUDE && _pid == 0) ->
       side[_pid] = (side[_pid] == left -> right : left);
accept_aside:
       skip
    od
}
