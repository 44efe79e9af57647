/*
 * A job scheduler on a priority queue: every kind of channel operation.
 *
 * Models:     submitters put jobs with an urgency into a sorted queue.  Workers
 *             take the most urgent job; a manager may withdraw one submitter's
 *             jobs, peek at the head of the queue, and count what waits.
 * Source:     written for this collection.
 * Parameters: JOBS (default 2)     jobs per submitter
 *             WORKERS (default 2)
 *             SORTED (default 1)   0 = a plain send, first in, first out
 * Expected:   verified.  SORTED=0 is violated: the assertion that a worker
 *             always gets the most urgent job fails.
 */
#ifndef JOBS
#define JOBS 2
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SORTED
#define SORTED 1
#endif

#define SUBMITTERS  2
#define SIZE        3
#define STOP        9           /* sorts behind every job */

typedef Job {
    byte urgency;               /* 1 is the most urgent                     */
    byte submitter
};

chan queue = [SIZE] of { Job };
byte submitted, finished, withdrawn;

proctype Submitter(byte me)
{
    Job job;
    byte i, u;

    job.submitter = me;
    for (i : 1 .. JOBS) {
        select (u : 1 .. 2);
        atomic {
            job.urgency = u;
#if SORTED
            queue!!job;
#else
            queue!job;
#endif
            submitted++
        }
    }
}

proctype Worker()
{
    Job job, rest;

    do
    :: atomic {
           queue?job;
           if
           :: job.urgency == STOP -> break
           :: else
           fi;
           for (rest in queue) {        /* looks at each message in turn */
               assert(rest.urgency >= job.urgency)
           };
           rest.urgency = 0;
           rest.submitter = 0;
           finished++
       }
    od
}

proctype Manager(byte victim)
{
    byte u;

    do
    :: atomic {                                 /* anywhere in the queue   */
           queue??[_, eval(victim)] ->
           queue??u,eval(victim);
           withdrawn++;
           u = 0
       }
    :: atomic {                                 /* copies the head         */
           queue?<u,_> ->
           assert(u > 0);
           u = 0
       }
    :: atomic {
           full(queue) ->
           assert(len(queue) == SIZE)
       }
    :: submitted == SUBMITTERS * JOBS ->
           break
    od
}

init {
    byte i;

    atomic {
        for (i : 1 .. WORKERS) {
            run Worker()
        }
        for (i : 0 .. SUBMITTERS - 1) {
            run Submitter(i)
        }
        run Manager(0)
    };
    submitted == SUBMITTERS * JOBS && _nr_pr == 1 + WORKERS;
    for (i : 1 .. WORKERS) {
        queue!STOP,0
    };
    _nr_pr == 1;
    assert(empty(queue) && finished + withdrawn == submitted)
}
