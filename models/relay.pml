/*
 * A relay circuit: a motor that must not be told to run both ways.
 *
 * Models:     three buttons and a relay for each direction of a motor.  A relay
 *             holds itself once it is on, and its break contact keeps the other
 *             one's coil without current.  An armature takes its time: it leaves
 *             the break contact first and comes to the make contact later, and
 *             falls back in the same way.  A third relay lights a lamp while
 *             the motor has current.
 * Source:     written for this collection: the reversing contactor of every
 *             book on relay circuits.
 * Parameters: BAR (default 0)  1 = a bar between the armatures, so that only one
 *                              can be away from its rest
 * Expected:   violated: the assertion fails.  Both buttons are pressed before
 *             either armature has left its break contact.  BAR=1 is verified.
 */
#ifndef BAR
#define BAR 0
#endif

#define FORWARD     0
#define REVERSE     1

bool pressed[2];                /* one button for each direction     */
bool halt;                      /* and one that breaks all circuits  */
bool at_rest[2] = true;         /* break contacts: closed while off  */
bool closed[2];                 /* make contacts: closed while on    */
bool lamp;

/* whether there is current in the coil of relay r */
#define CURRENT(r)  (!halt && (pressed[r] || closed[r]) && at_rest[1 - r])
#define MOTOR       (closed[FORWARD] || closed[REVERSE])

active proctype Operator()
{
    do
    :: pressed[FORWARD] = !pressed[FORWARD]
    :: pressed[REVERSE] = !pressed[REVERSE]
    :: halt = !halt
    od
}

proctype Relay(byte me)
{
end:
    do
    :: CURRENT(me) ->                           /* the magnet pulls, sooner */
#if BAR
           if                                   /* or later                 */
           :: d_step { at_rest[1 - me] -> at_rest[me] = false }
           :: !CURRENT(me) -> goto end
           fi;
#else
           at_rest[me] = false;                 /* or later                 */
#endif
           closed[me] = true;
           assert(!closed[1 - me]);             /* no short circuit         */
           !CURRENT(me);
           closed[me] = false;
           at_rest[me] = true
    od
}

active proctype Lamp()
{
end:
    do
    :: MOTOR && !lamp -> lamp = true
    :: !MOTOR && lamp -> lamp = false
    od
}

init {
    atomic {
        run Relay(FORWARD);
        run Relay(REVERSE)
    }
}
