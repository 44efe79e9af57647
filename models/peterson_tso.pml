/*
 * Peterson's algorithm on a processor with store buffers.
 *
 * Models:     writes go into a first-in first-out buffer per processor and reach
 *             memory later (total store order, as on x86); reads look into the
 *             own buffer first.  The algorithm needs a fence between its writes
 *             and its reads.
 * Source:     G. L. Peterson, 1981; the memory model after P. Sewell et al.,
 *             "x86-TSO", 2010.
 * Parameters: FENCE (default 0)  1 = wait for the own buffer to drain
 *             SIZE (default 2)   entries of a store buffer
 * Expected:   violated: the assertion fails.  FENCE=1 is verified.
 */
#ifndef FENCE
#define FENCE 0
#endif
#ifndef SIZE
#define SIZE 2
#endif

/* the addresses of the shared variables */
#define FLAG0   0
#define FLAG1   1
#define TURN    2
#define CELLS   3

byte memory[CELLS];
chan buffer[2] = [SIZE] of { byte, byte };      /* address, value */
byte inside;

inline store(address, value) { buffer[me]!address,value }

inline fence() { empty(buffer[me]) }

/* the newest buffered value for the address, or the one in memory */
inline load(address, result)
{
    d_step {
        result = memory[address];
        k = len(buffer[me]);
        do
        :: k > 0 ->
               buffer[me]?a,v;
               buffer[me]!a,v;
               if
               :: a == address -> result = v
               :: else
               fi;
               k--
        :: else -> break
        od;
        a = 0;
        v = 0
    }
}

active [2] proctype Thread()
{
    byte me = _pid;
    byte k, a, v;
    byte flag, turn;

    do
    :: store(FLAG0 + me, 1);
       store(TURN, 1 - me);
#if FENCE
       fence();
#endif
       do
       :: load(FLAG0 + 1 - me, flag);
          load(TURN, turn);
          if
          :: flag == 0 || turn == me -> break
          :: else
          fi
       od;
       inside++;
       assert(inside == 1);
       inside--;
       store(FLAG0 + me, 0)
    od
}

/* moves buffered writes to memory, at any time */
active proctype Memory()
{
    byte a, v;

    do
    :: d_step { buffer[0]?a,v -> memory[a] = v; a = 0; v = 0 }
    :: d_step { buffer[1]?a,v -> memory[a] = v; a = 0; v = 0 }
    od
}
