/*
 * A bounded buffer guarded by three semaphores.
 *
 * Models:     two producers and two consumers share a ring of SIZE slots.  Two
 *             counting semaphores count free and filled slots, a third one
 *             protects the ring.
 * Source:     E. W. Dijkstra, "Cooperating sequential processes", 1965.
 * Parameters: SIZE (default 3)     slots in the ring
 *             SWAPPED (default 0)  1 = a consumer takes the mutex before it
 *                                  knows that a slot is filled
 * Expected:   verified.  SWAPPED=1 is violated: invalid end state, a consumer
 *             sleeps on the empty ring with the mutex in its hand.
 */
#ifndef SIZE
#define SIZE 3
#endif
#ifndef SWAPPED
#define SWAPPED 0
#endif

typedef Ring {
    byte slot[SIZE];            /* 0 = free, else the producer's mark */
    byte head, tail;
    byte filled
};

Ring ring;
byte free_slots = SIZE;
byte filled_slots;
byte mutex = 1;

inline down(semaphore) { atomic { semaphore > 0 -> semaphore-- } }
inline up(semaphore)   { semaphore++ }

active [2] proctype Producer()
{
    do
    :: down(free_slots);
       down(mutex);
       assert(ring.slot[ring.tail] == 0);
       ring.slot[ring.tail] = _pid + 1;
       ring.tail = (ring.tail + 1) % SIZE;
       ring.filled++;
       assert(ring.filled <= SIZE);
       up(mutex);
       up(filled_slots)
    od
}

active [2] proctype Consumer()
{
    do
    ::
#if SWAPPED
       down(mutex);
       down(filled_slots);
#else
       down(filled_slots);
       down(mutex);
#endif
       assert(ring.slot[ring.head] != 0);
       ring.slot[ring.head] = 0;
       ring.head = (ring.head + 1) % SIZE;
       ring.filled--;
       up(mutex);
       up(free_slots)
    od
}
