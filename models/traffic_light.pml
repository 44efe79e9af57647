/*
 * Two traffic lights at a crossing, with a hand-written never claim.
 *
 * Models:     two lights that take turns, and a controller that gives the right
 *             of way to the other road when a car waits there.
 * Source:     written for this collection.
 * Parameters: IMPATIENT (default 0)  1 = the controller turns a light to green
 *                                    without waiting for red on the other road
 * Expected:   verified without the claim.  With the claim, which says that a
 *             car that waits on road 0 never sees green: verified under weak
 *             fairness, violated without (acceptance cycle).
 *             IMPATIENT=1 is violated: the assertion fails.
 */
#ifndef IMPATIENT
#define IMPATIENT 0
#endif

mtype = { red, amber, green };

mtype light[2] = red;
bool car[2];
byte road;              /* who has the right of way */

#define OTHER   (1 - road)

inline go(r)
{
    light[r] = green;
    assert(light[1 - r] == red)
}

active proctype Controller()
{
    go(road);
    do
    :: car[OTHER] ->
           light[road] = amber;
#if IMPATIENT
           go(OTHER);
           light[road] = red;
#else
           light[road] = red;
           go(OTHER);
#endif
           road = OTHER
    od
}

active [2] proctype Cars()
{
    byte me = _pid - 1;

end:
    do
    :: !car[me] -> car[me] = true
    :: car[me] && light[me] == green -> car[me] = false
    od
}

/* accepts, that is rejects the model: a car waits for ever on road 0 */
never {
    do
    :: true
    :: car[0] && light[0] != green -> goto accept_waiting
    od;
accept_waiting:
    do
    :: light[0] != green
    od
}
