/*
 * Sliding window, go-back-n: how many sequence numbers are enough?
 *
 * Models:     a sender with a window of WINDOW messages over channels that lose
 *             messages; on a timeout it sends the whole window again.  The
 *             receiver takes messages in order only and acknowledges the last
 *             one it took.
 * Source:     V. Cerf and R. Kahn, 1974, and the HDLC family; the bound on the
 *             sequence numbers is in A. S. Tanenbaum, "Computer networks".
 * Parameters: WINDOW (default 2)   messages under way
 *             MODULUS (default 3)  number of different sequence numbers
 * Expected:   verified as long as MODULUS > WINDOW.
 *             MODULUS=2 is violated: the assertion fails, an old message or an
 *             old acknowledgement is taken for a new one.
 */
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef MODULUS
#define MODULUS 3
#endif

#define ITEMS   (2 * MODULUS)           /* contents count modulo this */

typedef Frame {
    byte seq;
    byte item
};

chan data = [WINDOW] of { Frame };
chan ack  = [WINDOW] of { byte };

active proctype Sender()
{
    byte base;              /* sequence number of the oldest unacknowledged   */
    byte base_item;         /* and its contents                               */
    byte sent;              /* messages of the window sent since the restart  */
    byte n, distance;
    Frame frame;

    do
    :: sent < WINDOW ->
           atomic {
               frame.seq = (base + sent) % MODULUS;
               frame.item = (base_item + sent) % ITEMS;
               sent++
           };
           data!frame;
           d_step { frame.seq = 0; frame.item = 0 }
    :: ack?n ->
           atomic {
               distance = (n + MODULUS - base) % MODULUS;
               if
               :: distance < sent ->    /* n and all before it arrived */
                      base = (n + 1) % MODULUS;
                      base_item = (base_item + distance + 1) % ITEMS;
                      sent = sent - distance - 1
               :: else
               fi;
               n = 0;
               distance = 0
           }
    :: timeout ->
           sent = 0
    od
}

active proctype Receiver()
{
    byte expected, expected_item;
    Frame frame;

    do
    :: data?frame ->
           if
           :: frame.seq == expected ->
                  assert(frame.item == expected_item);
                  d_step {
                      expected = (expected + 1) % MODULUS;
                      expected_item = (expected_item + 1) % ITEMS
                  }
           :: else
           fi;
           ack!(expected + MODULUS - 1) % MODULUS
    od
}

active proctype Loss()
{
    do
    :: data?_,_
    :: ack?_
    od
}
