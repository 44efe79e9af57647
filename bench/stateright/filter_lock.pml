/*
 * Peterson's filter lock for N processes, as in src/filter_lock.rs: a step there is a step here.
 *
 * Source:   G. L. Peterson, "Myths about the mutual exclusion problem", 1981.
 * Expected: verified; never two processes inside.
 */
#define N 5

byte level[N];          /* how far each process is; 0 is outside */
byte last[N];           /* who came last to each level */
byte inside;

active [N] proctype P()
{
    byte l;             /* the level to come to */
    byte k;             /* the process to look at */

    do
    ::  d_step { l++; level[_pid] = l };
        d_step { last[l] = _pid; k = 0 };
        do
        :: d_step { k < N && (k == _pid || level[k] < l || last[l] != _pid) -> k++ }
        :: d_step { k == N && l < N - 1 -> k = 0 };
           break
        :: d_step { k == N && l == N - 1 -> k = 0; inside++; assert(inside == 1) };
           d_step { inside--; level[_pid] = 0; l = 0 };
           break
        od
    od
}
