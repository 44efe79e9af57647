/*
 * The alternating bit protocol over channels that lose messages.
 *
 * Models:     a sender numbers its messages with one bit and repeats a message
 *             until the acknowledgement with the same bit comes back.  Both
 *             channels may lose any message; a retransmission can happen at
 *             any time.  Contents count modulo 3, enough to see a message that
 *             is lost, doubled or out of order.
 * Source:     K. A. Bartlett, R. A. Scantlebury, P. T. Wilkinson, 1969; the
 *             modulo-3 contents follow P. Wolper's data independence, 1986.
 * Parameters: SIZE (default 2)  capacity of each channel
 *             CHECK (default 1) 0 = the receiver does not look at the bit
 * Expected:   verified.  CHECK=0 is violated: the assertion fails.
 *             There are non-progress cycles: the channel may lose everything.
 */
#ifndef SIZE
#define SIZE 2
#endif
#ifndef CHECK
#define CHECK 1
#endif

chan data = [SIZE] of { bit, byte };
chan ack  = [SIZE] of { bit, bool };    /* the bool only pads the message */

active proctype Sender()
{
    bit seq;
    byte item;

    do
    :: data!seq,item
    :: ack?eval(seq),_ ->
           seq = 1 - seq;
           item = (item + 1) % 3
    :: ack?eval(1 - seq),_              /* an old acknowledgement */
    od
}

active proctype Receiver()
{
    bit expected, seq;
    byte item, next;

    do
    :: data?seq,item ->
           if
           :: seq == expected || !CHECK ->
progress_delivered:
                  assert(item == next);
                  next = (next + 1) % 3;
                  expected = 1 - seq
           :: else
           fi;
           ack!seq,true
    od
}

active proctype Loss()
{
    do
    :: data?_,_
    :: ack?_,_
    od
}
