/*
 * Cache coherence by snooping: the MESI protocol.
 *
 * Models:     CACHES processors with one cache line each, a bus that serves one
 *             request at a time, and memory.  Values count modulo VALUES; a
 *             read must return the last value written anywhere.
 * Source:     M. Papamarcos and J. Patel, "A low-overhead coherence solution for
 *             multiprocessors with private cache memories", 1984.
 * Parameters: CACHES (default 3), VALUES (default 2)
 *             BUG (default 0)  1 = a write to a shared line forgets to
 *                              invalidate the copies in the other caches
 * Expected:   verified.  BUG=1 is violated: the assertion fails.
 */
#ifndef CACHES
#define CACHES 3
#endif
#ifndef VALUES
#define VALUES 2
#endif
#ifndef BUG
#define BUG 0
#endif

mtype:line = { modified, exclusive, shared, invalid };

typedef Cache {
    mtype:line state = invalid;
    byte value
};

Cache cache[CACHES];
byte memory;
byte latest;            /* the value a correct memory would hold */

/* the other caches see a read on the bus; sole: nobody else has a copy */
inline snoop_read(me, sole)
{
    sole = true;
    for (j : 0 .. CACHES - 1) {
        if
        :: j != me && cache[j].state != invalid ->
               sole = false;
               if
               :: cache[j].state == modified -> memory = cache[j].value
               :: else
               fi;
               cache[j].state = shared
        :: else
        fi
    }
}

/* the other caches see that somebody is going to write */
inline snoop_write(me)
{
    for (j : 0 .. CACHES - 1) {
        if
        :: j != me && cache[j].state != invalid ->
               if
               :: cache[j].state == modified -> memory = cache[j].value
               :: else
               fi;
               cache[j].state = invalid;
               cache[j].value = 0
        :: else
        fi
    }
}

active [CACHES] proctype Processor()
{
    byte j, seen;
    bool sole;

    do
    :: /* read hit */
       d_step {
           cache[_pid].state != invalid -> seen = cache[_pid].value
       };
       assert(seen == latest || cache[_pid].state == invalid);
       seen = 0

    :: /* read miss */
       d_step {
           cache[_pid].state == invalid ->
           snoop_read(_pid, sole);
           cache[_pid].value = memory;
           cache[_pid].state = (sole -> exclusive : shared);
           sole = false;
           j = 0
       }

    :: /* write */
       d_step {
           if
           :: cache[_pid].state == shared && BUG
           :: cache[_pid].state == modified || cache[_pid].state == exclusive
           :: else -> snoop_write(_pid)
           fi;
           latest = (latest + 1) % VALUES;
           cache[_pid].value = latest;
           cache[_pid].state = modified;
           j = 0
       }

    :: /* the line is needed for something else */
       d_step {
           cache[_pid].state != invalid ->
           if
           :: cache[_pid].state == modified -> memory = cache[_pid].value
           :: else
           fi;
           cache[_pid].state = invalid;
           cache[_pid].value = 0
       }
    od
}
