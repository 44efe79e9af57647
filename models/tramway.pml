/*
 * Trams that share single-track segments, and signals that turn red in time.
 *
 * Models:     a line of SEGMENTS single-track segments with passing places between
 *             them, on which TRAMS trams go to and fro.  Each segment has a signal at
 *             both ends, and a controller that knows only what sensors tell: a tram
 *             passes a green signal, comes to the entry sensor within ENTRY ticks,
 *             and is counted out by the exit sensor.  Before a controller lets in
 *             trams from the other end it turns the signal red, and waits CLEAR ticks
 *             for those that have passed it, and until all that came in are out.
 * Source:     in the manner of the tramway controller of the UniForM project, B.
 *             Krieg-Brueckner, J. Peleska, E.-R. Olderog and A. Baer, "The UniForM
 *             workbench", 1999, which with erroneous time bounds is benchmark C of
 *             K. Draeger, B. Finkbeiner and A. Podelski, "Directed model checking with
 *             distance-preserving abstractions", 2006; this controller is our own.
 * Parameters: TRAMS (default 2)     number of trams; every other one comes from the east
 *             SEGMENTS (default 1)  number of segments
 *             ENTRY (default 1)     longest time from signal to entry sensor
 *             CLEAR (default 2)     time from red on one side to green on the other
 * Expected:   verified as long as CLEAR > ENTRY.
 *             CLEAR=1 is violated: the assertion fails, trams meet head-on.
 */
#ifndef TRAMS
#define TRAMS 2
#endif
#ifndef SEGMENTS
#define SEGMENTS 1
#endif
#ifndef ENTRY
#define ENTRY 1
#endif
#ifndef CLEAR
#define CLEAR 2
#endif

#define NEVER   255

mtype:sensor = { in, out };

chan sensor[SEGMENTS] = [0] of { mtype:sensor };
bool wanted[2 * SEGMENTS];              /* somebody waits: of segment s at ends 2s, 2s + 1 */
bool green[2 * SEGMENTS];
byte on[2 * SEGMENTS];                  /* trams on the segment that came in there */
byte deadline[TRAMS] = NEVER;           /* ticks left to come to the sensor */
byte urgent;                            /* trams with no tick left */
byte timer[SEGMENTS];

active [SEGMENTS] proctype Controller()
{
    byte inside;
    bit side;                           /* whose turn it is */

    do
    :: sensor[_pid]?in -> inside++
    :: sensor[_pid]?out -> inside--
    :: wanted[2 * _pid + side] && !green[2 * _pid + side] ->
       green[2 * _pid + side] = true
    :: d_step {                         /* the other side's turn */
           wanted[2 * _pid + 1 - side] ->
           green[2 * _pid + side] = false;
           timer[_pid] = CLEAR
       };
       do
       :: sensor[_pid]?in -> inside++
       :: sensor[_pid]?out -> inside--
       :: d_step {
              timer[_pid] == 0 && inside == 0 ->
              side = 1 - side
          };
          break
       od
    od
}

#define ME      (_pid - SEGMENTS)
#define GATE    (2 * segment + side)

active [TRAMS] proctype Tram()
{
    bit side = ME % 2;                  /* 0: comes from the west */
    byte segment = (side -> SEGMENTS - 1 : 0);

    do
    :: wanted[GATE] = true;
       d_step {
           green[GATE] ->
           wanted[GATE] = false;
           deadline[ME] = ENTRY
       };
       sensor[segment]!in;
       d_step {
           urgent = urgent - (deadline[ME] == 0);
           deadline[ME] = NEVER;
           on[GATE]++
       };
       assert(on[2 * segment + 1 - side] == 0);
       on[GATE]--;
       sensor[segment]!out;
       d_step {
           if                           /* on, or back at the end of the line */
           :: side == 0 && segment < SEGMENTS - 1 -> segment++
           :: side == 1 && segment > 0 -> segment--
           :: else -> side = 1 - side
           fi
       }
    od
}

active proctype Clock()
{
    byte i;

    do
    :: d_step {
           urgent == 0 ->
           for (i : 0 .. TRAMS - 1) {
               if
               :: deadline[i] != NEVER ->
                      deadline[i]--;
                      urgent = urgent + (deadline[i] == 0)
               :: else
               fi
           };
           for (i : 0 .. SEGMENTS - 1) {
               if
               :: timer[i] > 0 -> timer[i]--
               :: else
               fi
           };
           i = 0
       }
    od
}
