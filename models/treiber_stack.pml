/*
 * A lock-free stack and the ABA problem.
 *
 * Models:     a linked stack whose top is changed by compare-and-swap.  THREADS
 *             threads pop a node and push it back; a node that was popped is
 *             reused at once.  Without a version counter a thread can succeed
 *             in swapping in a successor that is out of date.
 * Source:     R. K. Treiber, "Systems programming: coping with parallelism",
 *             1986 (IBM, RJ 5118).
 * Parameters: THREADS (default 2), NODES (default 3)
 *             VERSIONED (default 0)  1 = the top carries a version number
 * Expected:   violated: the assertion fails, one node belongs to two threads.
 *             VERSIONED=1 is verified (the version does not wrap around within
 *             one operation here).
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef NODES
#define NODES 3
#endif
#ifndef VERSIONED
#define VERSIONED 0
#endif

#define NIL     NODES
#define OPS     2               /* pops by each thread before it gives all back */

typedef Top {
    byte node;
    byte version
};

Top top;
byte next[NODES];
byte owners[NODES];             /* how many threads think they own the node */

/* if the top is what was read before, replace it */
inline compare_and_swap(old, new_node, success)
{
    d_step {
        if
        :: top.node == old.node && (!VERSIONED || top.version == old.version) ->
               top.node = new_node;
               top.version = (VERSIONED -> top.version + 1 : 0);
               success = true
        :: else ->
               success = false
        fi
    }
}

inline pop(taken)
{
    do
    :: d_step { old.node = top.node; old.version = top.version };
       if
       :: old.node == NIL -> taken = NIL; break
       :: else
       fi;
       successor = next[old.node];
       compare_and_swap(old, successor, success);
       if
       :: success -> taken = old.node; break
       :: else
       fi
    od
}

inline push(given)
{
    do
    :: d_step { old.node = top.node; old.version = top.version };
       next[given] = old.node;
       compare_and_swap(old, given, success);
       if
       :: success -> break
       :: else
       fi
    od
}

proctype Thread()
{
    Top old;
    bool success;
    byte successor, i;
    byte mine[OPS] = NIL;

    for (i : 0 .. OPS - 1) {
        pop(mine[i]);
        if
        :: mine[i] != NIL ->
               owners[mine[i]]++;
               assert(owners[mine[i]] == 1)
        :: else
        fi
    }
    for (i : 0 .. OPS - 1) {
        if
        :: mine[i] != NIL ->
               owners[mine[i]]--;
               push(mine[i])
        :: else
        fi
    }
    pop(mine[0]);
    if
    :: mine[0] != NIL ->
           owners[mine[0]]++;
           assert(owners[mine[0]] == 1)
    :: else
    fi
}

init {
    byte i;

    atomic {
        for (i : 0 .. NODES - 1) {
            next[i] = i + 1             /* the last one points to NIL */
        }
        for (i : 1 .. THREADS) {
            run Thread()
        }
    }
}
