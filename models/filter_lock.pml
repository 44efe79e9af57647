/*
 * The filter lock: Peterson's algorithm for N processes.
 *
 * Models:     every process passes N - 1 levels; at each level at least one
 *             process stays behind.  The other processes are inspected one at
 *             a time, in separate steps.
 * Source:     G. L. Peterson, "Myths about the mutual exclusion problem", 1981;
 *             the name is from M. Herlihy and N. Shavit, 2008.
 * Parameters: N (default 3)  number of processes, at least 2
 * Expected:   verified.
 */
#ifndef N
#define N 3
#endif

byte level[N];          /* level[i]: how far process i has come, 0 = not at all */
byte last[N];           /* last[k]: who entered level k last                    */
byte inside;

active [N] proctype P()
{
    byte k, j;

    do
    :: for (k : 1 .. N - 1) {
           level[_pid] = k;
           last[k] = _pid;
           for (j : 0 .. N - 1) {
               (j == _pid || level[j] < k || last[k] != _pid)
           }
       }
       inside++;
       assert(inside == 1);
       inside--;
       level[_pid] = 0
    od
}
