/*
 * Preemptive scheduling with provided clauses.
 *
 * Models:     TASKS tasks on one processor; a task can make steps only while the
 *             scheduler lets it (provided).  The scheduler takes the processor
 *             away at any moment, so the two halves of an update can be torn
 *             apart unless the task asks not to be disturbed.
 * Source:     written for this collection; a textbook lost update.
 * Parameters: TASKS (default 2), UPDATES (default 3)  per task
 *             MASK (default 0)  1 = tasks switch preemption off in the update
 * Expected:   violated: the assertion fails, an update is lost.
 *             MASK=1 is verified.
 */
#ifndef TASKS
#define TASKS 2
#endif
#ifndef UPDATES
#define UPDATES 3
#endif
#ifndef MASK
#define MASK 0
#endif

byte running;           /* pid of the task on the processor */
bool masked;            /* preemption is off                */
byte counter;
byte finished;

active [TASKS] proctype Task() provided (running == _pid)
{
    byte i, old;

    for (i : 1 .. UPDATES) {
        masked = MASK;
        old = counter;
        counter = old + 1;
        masked = false
    }
    finished++
}

active proctype Scheduler() provided (!masked)
{
    byte next;

    do
    :: finished < TASKS ->
           select (next : 0 .. TASKS - 1);
           running = next
    :: finished == TASKS ->
           break
    od;
    assert(counter == TASKS * UPDATES)
}
