/*
 * Plain old telephone service: a small switch with two-way signalling.
 *
 * Models:     N subscribers, each with a line handler in the switch.  Handlers
 *             set up and clear calls by signals to one another.  A subscriber
 *             may hang up at any moment; the handler then leaves whatever it is
 *             doing (unless) and clears the call.  Because signals cross on
 *             their way, clearing needs an answer.
 * Source:     written for this collection; the telephone switch as a test case
 *             is common, e.g. M. Kamel and S. Leue, "Formalization and
 *             validation of the POTS call processing", 2000.
 * Parameters: N (default 2)      number of subscribers
 *             CALLS (default 2)  how often each one lifts the receiver
 *             BUG (default 0)    1 = a handler ignores a request to clear a
 *                                call it does not know of
 * Expected:   verified.  BUG=1 is violated: invalid end state, a caller hung up
 *             before it saw the busy tone and waits for ever.
 */
#ifndef N
#define N 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef BUG
#define BUG 0
#endif

mtype:hook = { lifted, put_down };
mtype:signal = { seize, ringing, busy, answer, clear, released };
mtype:tone = { silence, dial_tone, busy_tone, ring_tone, voice };

#define NOBODY  N

chan hook[N]   = [0] of { mtype:hook };
chan dial[N]   = [0] of { byte };
chan signal[N] = [2 * N] of { mtype:signal, byte };     /* signal, from whom */

typedef Line {
    mtype:tone tone;
    byte peer
};
Line line[N];

/*
 * Signals that every handler answers in the same way.  Each is taken and
 * answered in one atomic step: hanging up must not come between the two.
 */
inline refuse(me, from)
{
    atomic { signal[me]?seize(from) -> signal[from]!busy(me) }
}

/* a request to clear a call that this handler refused or never saw */
inline clear_unknown(me, from)
{
    atomic {
        signal[me]?clear(from) ->
        if
        :: !BUG -> signal[from]!released(me)
        :: BUG
        fi
    }
}

proctype Subscriber(byte me)
{
    byte i, number;

    for (i : 1 .. CALLS) {
        hook[me]!lifted;
        if
        :: line[me].tone == dial_tone ->
               select (number : 0 .. N - 1);
               dial[me]!number
        :: true                         /* changes his mind, or answers */
        fi;
        if
        :: line[me].tone == voice       /* talks for a while */
        :: true
        fi;
        hook[me]!put_down
    }
}

proctype Handler(byte me)
{
    byte from;

idle:
    atomic {
        line[me].tone = silence;
        line[me].peer = NOBODY;
        from = 0
    };
end_idle:
    do
    :: hook[me]?lifted -> goto dialling
    :: signal[me]?seize(from) -> goto called
    :: clear_unknown(me, from)
    od;

dialling:
    {
        line[me].tone = dial_tone;
        do
        :: dial[me]?line[me].peer -> break
        :: refuse(me, from)
        :: clear_unknown(me, from)
        od;
        if
        :: line[me].peer == me -> goto engaged
        :: else -> goto calling
        fi
    } unless {
        hook[me]?put_down -> goto idle
    }

calling:
    line[me].tone = silence;
    signal[line[me].peer]!seize(me);
    {
        do
        :: signal[me]?ringing(from) ->
               assert(from == line[me].peer);
               line[me].tone = ring_tone
        :: signal[me]?answer(from) ->
               assert(from == line[me].peer);
               goto talking
        :: signal[me]?busy(from) ->
               goto engaged
        :: refuse(me, from)
        :: clear_unknown(me, from)
        od
    } unless {
        hook[me]?put_down -> goto clearing
    }

engaged:
    line[me].tone = busy_tone;
    line[me].peer = NOBODY;
end_engaged:
    do
    :: hook[me]?put_down -> goto idle
    :: refuse(me, from)
    :: clear_unknown(me, from)
    od;

called:
    line[me].peer = from;
    line[me].tone = ring_tone;
    signal[from]!ringing(me);
    do
    :: hook[me]?lifted ->
           signal[line[me].peer]!answer(me);
           goto talking
    :: signal[me]?clear(from) ->
           signal[from]!released(me);
           if
           :: from == line[me].peer -> goto idle
           :: else
           fi
    :: refuse(me, from)
    od;

talking:
    line[me].tone = voice;
    {
        do
        :: atomic { signal[me]?clear(from) -> signal[from]!released(me) };
               if
               :: from == line[me].peer -> goto engaged
               :: else
               fi
        :: refuse(me, from)
        od
    } unless {
        hook[me]?put_down -> goto clearing
    }

clearing:                               /* wait until the peer knows, so that */
                                        /* no old signal meets the next call  */
    line[me].tone = silence;
    signal[line[me].peer]!clear(me);
    do
    :: signal[me]?released(from) ->
           assert(from == line[me].peer);
           goto idle
    :: signal[me]?clear(from) -> signal[from]!released(me)
    :: signal[me]?ringing(_)
    :: signal[me]?busy(_)
    :: signal[me]?answer(_)
    :: refuse(me, from)
    od
}

init {
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            run Handler(i);
            run Subscriber(i)
        }
    }
}
