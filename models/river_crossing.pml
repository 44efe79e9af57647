/*
 * Wolf, goat and cabbage: a puzzle as a search for an assertion violation.
 *
 * Models:     a farmer with a boat for himself and one more passenger.  Left
 *             alone, the wolf eats the goat and the goat eats the cabbage.
 * Source:     attributed to Alcuin of York, about 800.
 * Parameters: none
 * Expected:   violated: the assertion "not all are across" fails; the trail is
 *             the solution, seven crossings on the shortest one.
 */
#define LEFT    0
#define RIGHT   1

bit farmer, wolf, goat, cabbage;        /* which bank each is on */

/* nobody eats anybody as long as the farmer does not leave these two alone */
#define APART(a, b)   (a != b)

#define SOLVED  (farmer == RIGHT && wolf == RIGHT && \
                 goat == RIGHT && cabbage == RIGHT)

active proctype Farmer()
{
    do
    :: atomic {
           if
           :: wolf == farmer && APART(goat, cabbage) -> wolf = 1 - wolf
           :: goat == farmer -> goat = 1 - goat
           :: cabbage == farmer && APART(wolf, goat) -> cabbage = 1 - cabbage
           :: APART(wolf, goat) && APART(goat, cabbage)         /* alone */
           fi;
           farmer = 1 - farmer
       };
       assert(!SOLVED)
    od
}
