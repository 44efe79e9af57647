/*
 * A telephone switch that talks to its subscribers by messages.
 *
 * Models:     two subscribers and a line handler for each.  Subscribers lift
 *             the receiver, dial and hang up when they like; handlers send them
 *             tones and set up and clear calls with each other.  All of this
 *             goes through queues, so a subscriber may hang up, lift again and
 *             then hear a tone that was meant for the call before.
 * Source:     written for this collection; after the first draft of a switch
 *             in M. Kamel and S. Leue, "VIP: a visual editor and compiler for
 *             v-Promela", 2000, which served as an example of long trails.
 * Parameters: SIZE (default 1)  messages in a queue between subscriber and
 *                               handler; 0 = they meet
 * Expected:   no invalid end states, and consistent is violated: both talk,
 *             handler 0 is in the call, and handler 1 is not.  With SIZE=0 it
 *             holds.
 */
#ifndef SIZE
#define SIZE 1
#endif

#define OTHER   (1 - me)

mtype:phone = { lift, dial, hang_up };
mtype:tone = { dial_tone, ring_back, busy_tone, ring, voice, hush };
mtype:call = { seize, accepted, refused, answer, clear, cleared };

chan phone[2] = [SIZE] of { mtype:phone };      /* from subscriber to handler */
chan tone[2] = [SIZE] of { mtype:tone };        /* and back                   */
chan call[2] = [4] of { mtype:call };           /* from the other handler     */

proctype Subscriber(byte me)
{
    mtype:tone heard;

on_hook:
    do
    :: phone[me]!lift -> break
    :: tone[me]?heard                           /* rings, or nobody listens  */
    od;
off_hook:
    heard = 0;
    do
    :: tone[me]?heard ->
           if
           :: heard == dial_tone ->
                  do
                  :: phone[me]!dial -> break
                  :: tone[me]?_
                  od
           :: heard == voice -> break
           :: heard == busy_tone || heard == hush -> goto leave
           :: else
           fi
    :: goto leave                               /* changes his mind */
    od;
    heard = 0;
conversation:
    do
    :: tone[me]?_
    :: phone[me]!hang_up -> goto on_hook
    od;
leave:
    heard = 0;
    do
    :: phone[me]!hang_up -> goto on_hook
    :: tone[me]?_
    od
}

/* what every handler answers in the same way while it is busy */
inline others()
{
    atomic { call[me]?seize -> call[OTHER]!refused }
}

proctype Handler(byte me)
{
idle:
    do
    :: phone[me]?lift -> break
    :: phone[me]?dial                           /* late: ignored */
    :: phone[me]?hang_up
    :: atomic { call[me]?clear -> call[OTHER]!cleared }
    :: call[me]?seize -> goto called
    od;

    tone[me]!dial_tone;
    do
    :: phone[me]?dial -> break
    :: phone[me]?hang_up -> goto idle
    :: phone[me]?lift
    :: call[me]?seize -> goto answered          /* has lifted already */
    :: atomic { call[me]?clear -> call[OTHER]!cleared }
    od;

    call[OTHER]!seize;
    do
    :: call[me]?accepted -> tone[me]!ring_back
    :: call[me]?refused -> tone[me]!busy_tone; goto over
    :: call[me]?answer -> break
    :: phone[me]?hang_up -> goto clearing
    :: phone[me]?lift
    :: phone[me]?dial
    :: others()
    :: atomic { call[me]?clear -> call[OTHER]!cleared }
    od;
    goto connected;

called:
    call[OTHER]!accepted;
    tone[me]!ring;
    do
    :: phone[me]?lift -> break
    :: phone[me]?hang_up
    :: phone[me]?dial
    :: atomic { call[me]?clear -> call[OTHER]!cleared };
       tone[me]!hush;
       goto idle
    od;
answered:
    call[OTHER]!answer;

connected:
    tone[me]!voice;
conversation:
    do
    :: phone[me]?hang_up -> goto clearing
    :: phone[me]?lift
    :: phone[me]?dial
    :: atomic { call[me]?clear -> call[OTHER]!cleared };
       tone[me]!hush;
       goto over
    od;

over:                                           /* until he hangs up */
    do
    :: phone[me]?hang_up -> goto idle
    :: phone[me]?lift
    :: phone[me]?dial
    :: others()
    :: atomic { call[me]?clear -> call[OTHER]!cleared }
    od;

clearing:                                       /* until the other one knows */
    call[OTHER]!clear;
    do
    :: call[me]?cleared -> goto idle
    :: call[me]?accepted
    :: call[me]?refused
    :: call[me]?answer
    :: others()
    :: atomic { call[me]?clear -> call[OTHER]!cleared }
    od
}

init {
    atomic {
        run Subscriber(0);
        run Subscriber(1);
        run Handler(0);
        run Handler(1)
    }
}

#define TALKS(i)        Subscriber[1 + i]@conversation
#define CONNECTED(i)    Handler[3 + i]@conversation

ltl consistent { [] !(TALKS(0) && TALKS(1) && CONNECTED(0) && !CONNECTED(1)) }
