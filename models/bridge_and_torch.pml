/*
 * The bridge and the torch: is there a plan within the time limit?
 *
 * Models:     PEOPLE soldiers at night in front of a bridge that carries two;
 *             they have one torch, and a pair walks at the pace of the slower
 *             one.  All must be across within LIMIT minutes.
 * Source:     recreational mathematics, e.g. G. Rote, "Crossing the bridge at
 *             night", 2002; a test case for timed model checking ("soldiers").
 * Parameters: LIMIT (default 60)  for paces of 5, 10, 20 and 25 minutes
 * Expected:   violated: the assertion fails when all are across, which takes 60
 *             minutes.  LIMIT=59 is verified: there is no faster plan.
 */
#ifndef LIMIT
#define LIMIT 60
#endif

#define PEOPLE  4
#define HERE    0
#define THERE   1
#define MAX(a, b)   ((a) > (b) -> (a) : (b))

byte pace[PEOPLE] = { 5, 10, 20, 25 };
bit side[PEOPLE];
bit torch;
byte minutes;
byte across;

active proctype Plan()
{
    byte a, b;

end:
    do
    :: atomic {                         /* two go over */
           torch == HERE ->
           select (a : 0 .. PEOPLE - 2);
           select (b : 1 .. PEOPLE - 1);
end_no_pair:                            /* a wrong guess ends here */
           a < b && side[a] == HERE && side[b] == HERE &&
               minutes + MAX(pace[a], pace[b]) <= LIMIT ->
           minutes = minutes + MAX(pace[a], pace[b]);
           side[a] = THERE;
           side[b] = THERE;
           across = across + 2;
           torch = THERE
       };
       assert(across < PEOPLE)
    :: atomic {                         /* one brings the torch back */
           torch == THERE ->
           select (a : 0 .. PEOPLE - 1);
end_nobody:
           side[a] == THERE && minutes + pace[a] <= LIMIT ->
           minutes = minutes + pace[a];
           side[a] = HERE;
           across--;
           torch = HERE
       }
    od
}
