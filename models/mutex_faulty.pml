/*
 * Mutual exclusion, as it was published and is wrong.
 *
 * Models:     two processes with a flag each and a turn.  Who does not have the
 *             turn waits until the other one's flag is down, and then takes it.
 *             Between the two the other one may have put its flag up again.
 * Source:     H. Hyman, "Comments on a problem in concurrent programming
 *             control", Communications of the ACM, 1966; refuted by D. E.
 *             Knuth in the same year.
 * Parameters: ATOMIC (default 0)  1 = sees the flag and takes the turn at once
 * Expected:   violated: the assertion fails.  ATOMIC=1 is verified.
 */
#ifndef ATOMIC
#define ATOMIC 0
#endif

#define OTHER   (1 - _pid)

bool flag[2];
byte turn;
byte inside;

active [2] proctype P()
{
    do
    :: flag[_pid] = true;
       do
       :: turn != _pid ->
#if ATOMIC
              d_step { !flag[OTHER] -> turn = _pid }
#else
              !flag[OTHER];
              turn = _pid
#endif
       :: turn == _pid -> break
       od;
       inside++;
       assert(inside == 1);
       inside--;
       flag[_pid] = false
    od
}
