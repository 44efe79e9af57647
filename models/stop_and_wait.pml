/*
 * Stop and wait with a loss in either direction.
 *
 * Models:     a sender that sends message i, waits for an acknowledgement, and
 *             repeats message i when nothing moves any more (timeout).  The
 *             links are processes that may lose messages, taken from the file
 *             lossy_link.inc.
 * Source:     folklore; see A. S. Tanenbaum, "Computer networks", the step
 *             from protocol 2 to protocol 3.
 * Parameters: MESSAGES (default 3)  how many messages are sent
 *             NUMBERED (default 0)  1 = messages carry an alternating bit
 * Expected:   violated: when an acknowledgement is lost, the same message is
 *             delivered twice and the assertion fails.
 *             NUMBERED=1 is verified.
 */
#include "lossy_link.inc"

#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef NUMBERED
#define NUMBERED 0
#endif

chan data_in  = [0] of { bit, byte };
chan data_out = [1] of { bit, byte };
chan ack_in   = [0] of { bit, byte };
chan ack_out  = [1] of { bit, byte };

LOSSY_LINK(Data_link, data_in, data_out)
LOSSY_LINK(Ack_link, ack_in, ack_out)

active proctype Sender()
{
    byte item;

    for (item : 1 .. MESSAGES) {
again:
        data_in!(item % 2),item;
        if
        :: ack_out?eval(item % 2),_
        :: timeout -> goto again
        fi
    }
}

active proctype Receiver()
{
    byte item, taken;
    bit seq;

end:
    do
    :: data_out?seq,item ->
           if
           :: NUMBERED && seq != (taken + 1) % 2        /* a copy */
           :: else ->
                  taken++;
                  assert(item == taken)
           fi;
           ack_in!seq,0
    od
}
