/*
 * Priority inversion: the middle task starves the urgent one.
 *
 * Models:     three tasks with fixed priorities on one processor.  The low and
 *             the high one share a mutex.  While high waits for the mutex, the
 *             middle task keeps low from running, so high waits for both.  A
 *             watchdog counts what the middle task does meanwhile.
 * Source:     L. Sha, R. Rajkumar, J. Lehoczky, "Priority inheritance protocols",
 *             1990; known from the Mars Pathfinder, 1997.
 * Parameters: INHERIT (default 0)  1 = the owner of the mutex gets the priority
 *                                  of the task that waits for it
 *             LIMIT (default 2)    patience of the watchdog
 * Expected:   violated: the watchdog's assertion fails.  INHERIT=1 is verified.
 * Note:       uses process priorities, so no reduction is possible.
 */
#ifndef INHERIT
#define INHERIT 0
#endif
#ifndef LIMIT
#define LIMIT 2
#endif

#define NOBODY  255

#define LOW     1
#define MIDDLE  5
#define HIGH    10

byte owner = NOBODY;
bool high_waits;
bool wake_middle, wake_high;    /* interrupts that make a task ready  */
byte delay;                     /* steps of middle while high waits   */

inline lock_mutex()
{
    atomic {
        owner == NOBODY -> owner = _pid
    }
}

active proctype Low() priority LOW
{
    do
    :: lock_mutex();
       if                               /* interrupts come at any time */
       :: wake_high = true
       :: wake_middle = true
       :: atomic { wake_high = true; wake_middle = true }
       :: skip
       fi;
       atomic {
           owner = NOBODY;
           set_priority(_pid, LOW)      /* what was inherited is given back */
       }
    od
}

active proctype Middle() priority MIDDLE
{
    do
    :: wake_middle ->
       if
       :: wake_middle = false           /* work done */
       :: skip                          /* there is more to do */
       fi;
       if
       :: high_waits && delay <= LIMIT ->
              delay++;
              assert(delay <= LIMIT)
       :: else
       fi
    od
}

active proctype High() priority HIGH
{
    do
    :: wake_high ->
       high_waits = true;
#if INHERIT
       if
       :: owner != NOBODY -> set_priority(owner, HIGH)
       :: else
       fi;
#endif
       lock_mutex();
       high_waits = false;
       delay = 0;
       owner = NOBODY;
       wake_high = false
    od
}
