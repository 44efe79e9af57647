/*
 * An elevator with call buttons, a door and an emergency stop.
 *
 * Models:     passengers press buttons on FLOORS floors, the controller goes on
 *             in one direction while there are calls ahead, and turns around
 *             otherwise.  The emergency stop cuts into whatever the controller
 *             does (unless) and keeps the cabin where it is.
 * Source:     written for this collection; the scheduling rule is the SCAN
 *             ("elevator") algorithm of disk scheduling.
 * Parameters: FLOORS (default 4)
 *             BUG (default 0)  1 = the door stays open when the cabin moves on
 * Expected:   verified; every_call_is_served holds under weak fairness as long
 *             as nobody stops the cabin (that is part of the formula).
 *             BUG=1 is violated: the assertion fails.
 */
#ifndef FLOORS
#define FLOORS 4
#endif
#ifndef BUG
#define BUG 0
#endif

mtype = { up, down, standing };

bool call[FLOORS];
byte pending;                   /* number of calls      */
byte floor;
bool door_open;
bool emergency;
mtype motion = standing;

active proctype Passengers()
{
    byte f;

end:
    do
    :: select (f : 0 .. FLOORS - 1);
       atomic {
           if
           :: !call[f] -> call[f] = true; pending++
           :: else
           fi
       }
    od
}

active proctype Emergency_button()
{
    do
    :: emergency = true;
       emergency = false
    od
}

/* looks from the cabin to the end of the shaft for a call */
inline calls_ahead(direction, found)
{
    d_step {
        found = false;
        f = floor;
        do
        :: direction == up && f < FLOORS - 1 -> f++; found = (found || call[f])
        :: direction == down && f > 0 -> f--; found = (found || call[f])
        :: else -> break
        od;
        f = 0
    }
}

active proctype Controller()
{
    mtype direction = up;
    bool ahead;
    byte f;

run_again:
    {
end:
        do
        :: call[floor] ->
               motion = standing;
               door_open = true;
               d_step { call[floor] = false; pending-- };
#if !BUG
               door_open = false
#endif
        :: !call[floor] && pending > 0 ->
               calls_ahead(direction, ahead);
               if
               :: ahead ->
                      motion = direction;
                      floor = (motion == up -> floor + 1 : floor - 1);
                      assert(floor < FLOORS);
                      assert(!door_open);
                      motion = standing
               :: else ->
                      direction = (direction == up -> down : up)
               fi
        od
    } unless {
        emergency ->
        motion = standing;
        door_open = false;
        !emergency;
        goto run_again
    }
}

ltl every_call_is_served {
    (<> [] !emergency) -> [] (call[1] -> <> !call[1])
}
