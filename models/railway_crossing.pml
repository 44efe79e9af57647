/*
 * A railway crossing whose gate must be down in time.
 *
 * Models:     a train announces itself, needs at least APPROACH ticks to reach
 *             the crossing, and leaves it again.  The controller lowers and
 *             raises the gate; each takes GATE ticks.  Time passes only when
 *             nothing else can happen (timeout), so all reactions are prompt.
 * Source:     N. Leveson and J. Stolzy, "Safety analysis using Petri nets",
 *             1987 (the railroad crossing); written anew with a tick clock.
 * Parameters: APPROACH (default 3)  shortest time from sensor to crossing
 *             CROSSING (default 2)  time on the crossing
 *             GATE (default 2)      time to lower or raise the gate
 * Expected:   verified as long as APPROACH > GATE.
 *             APPROACH=1 is violated: the assertion fails, the train meets an
 *             open gate.
 */
#ifndef APPROACH
#define APPROACH 3
#endif
#ifndef CROSSING
#define CROSSING 2
#endif
#ifndef GATE
#define GATE 2
#endif

mtype:sensor = { coming, gone };
mtype:order = { lower, raise };
mtype:gate = { open, lowering, closed, raising };

chan sensor = [1] of { mtype:sensor };
chan order = [1] of { mtype:order };
mtype:gate gate = open;
byte train_timer, gate_timer;
bool tick;              /* flips with every tick, so that anybody can wait for one */

active proctype Train()
{
    bool seen;

    do
    :: /* far away for a tick or more */
       seen = tick;
       (tick != seen);
       if
       :: skip
       :: sensor!coming;
          train_timer = APPROACH;
          (train_timer == 0);
          if                            /* a slow train takes one tick more */
          :: train_timer = 1;
             (train_timer == 0)
          :: skip
          fi;
          assert(gate == closed);       /* on the crossing */
          train_timer = CROSSING;
          (train_timer == 0);
          assert(gate == closed);
          sensor!gone
       fi
    od
}

active proctype Controller()
{
end:
    do
    :: sensor?coming -> order!lower
    :: sensor?gone -> order!raise
    od
}

active proctype Gate()
{
end:
    do
    :: order?lower ->
           if
           :: gate == closed
           :: else ->
                  gate = lowering;
                  gate_timer = GATE;
                  (gate_timer == 0);
                  gate = closed
           fi
    :: order?raise ->
           gate = raising;
           gate_timer = GATE;
           do
           :: gate_timer == 0 -> gate = open; break
           :: order?[lower] -> break            /* the next train: turn back */
           od
    od
}

active proctype Clock()
{
    do
    :: timeout ->
       d_step {
           tick = !tick;
           train_timer = (train_timer > 0 -> train_timer - 1 : 0);
           gate_timer = (gate_timer > 0 -> gate_timer - 1 : 0)
       }
    od
}
