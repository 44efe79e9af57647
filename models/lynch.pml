/*
 * Lynch's data transfer protocol: a message taken twice.
 *
 * Models:     two stations send numbered data to each other over a line that
 *             distorts messages now and then.  Every message carries data and
 *             says whether the last one came through (ack) or not (nak).  Who
 *             gets an ack sends the next data, who gets a nak or something
 *             distorted sends the old data again.
 * Source:     W. C. Lynch, "Reliable full-duplex file transmission over
 *             half-duplex telephone lines", Communications of the ACM, 1968;
 *             as told by G. J. Holzmann, "Design and Validation of Computer
 *             Protocols", 1991, chapter 2, who shows what is wrong.
 * Parameters: MAX (default 4)       data are numbers modulo MAX
 *             NUMBERED (default 0)  1 = with an alternating bit, by which a
 *                                   station knows data that it has already
 * Expected:   violated: the assertion fails.  When an ack is distorted, its
 *             sender gets the old data again and takes them for new ones.
 *             NUMBERED=1 is verified.
 */
#ifndef MAX
#define MAX 4
#endif
#ifndef NUMBERED
#define NUMBERED 0
#endif

mtype = { ack, nak, err };

chan line[2] = [1] of { mtype, byte, bit };     /* to station i */

proctype Station(byte me)
{
    mtype kind;
    byte outgoing, incoming, expected;
    bit mine, theirs, seen = 1;

end:
    do
    :: line[me]?kind,incoming,theirs ->
           if
           :: kind == err -> kind = nak
           :: else ->
                  if
                  :: NUMBERED && theirs == seen         /* again */
                  :: else ->
                         assert(incoming == expected);
                         expected = (expected + 1) % MAX;
                         seen = theirs
                  fi;
                  if
                  :: kind == ack ->
                         outgoing = (outgoing + 1) % MAX;
                         mine = 1 - mine
                  :: else
                  fi;
                  kind = ack
           fi;
           if
           :: line[1 - me]!kind,outgoing,mine
           :: line[1 - me]!err,0,0              /* distorted */
           fi;
           incoming = 0;
           theirs = 0
    od
}

init {
    atomic {
        run Station(0);
        run Station(1);
        line[0]!err,0,0                         /* somebody has to begin */
    }
}
