/*
 * Users who call servers through a broker that closes connections.
 *
 * Models:     USERS users call CALLS times each.  Everybody has an agent, which
 *             sends the request over a connection and waits for the reply.  A
 *             broker passes requests on to one of SERVERS servers, which register
 *             with it first, and replies back.  It closes each connection once,
 *             when nothing is under way as far as it knows; what comes over the
 *             old one then is lost, and an agent that is told so asks again.
 * Source:     written for this collection after the General Inter-ORB Protocol
 *             (OMG, 1996); GIOP as a test case is due to M. Kamel and S. Leue,
 *             2000, and one of directed model checking.
 * Parameters: USERS (default 2)    1 to 4
 *             SERVERS (default 1)  1 or 2
 *             CALLS (default 1)    calls of each user
 *             BUG (default 0)      1 = an agent that waits for a reply takes it
 *                                  that its request came after the close
 *             DANGER (default 0)   1 = a label where an agent waits for ever
 * Expected:   verified.  BUG=1 is violated: invalid end state, an agent waits for
 *             the reply to a request that was lost.
 */
#ifndef USERS
#define USERS 2
#endif
#ifndef SERVERS
#define SERVERS 1
#endif
#ifndef CALLS
#define CALLS 1
#endif
#ifndef BUG
#define BUG 0
#endif
#ifndef DANGER
#define DANGER 0
#endif

mtype = { request, reply, close_connection };

chan ask[USERS] = [1] of { mtype };             /* a user, its agent           */
chan answer[USERS] = [1] of { mtype };          /* and back                    */
chan wire[USERS] = [1] of { mtype, bit };       /* an agent, on a connection   */
chan back[USERS] = [2] of { mtype };            /* and back                    */
chan registers = [SERVERS] of { byte };
chan serve[SERVERS] = [1] of { byte };          /* the broker, a server: who   */
chan served = [USERS] of { byte };              /* and back                    */

bit connection[USERS];          /* what the broker takes for the one in use    */
bit pending[USERS];             /* whether it waits for a server               */

proctype User(byte me)
{
    byte calls;

    for (calls : 1 .. CALLS) {
        ask[me]!request;
        answer[me]?reply
    }
}

proctype Agent(byte me)
{
    bit mine;                   /* the connection in use                       */

end:
    do
    :: ask[me]?request ->
           wire[me]!request,mine;
wait:
#if DANGER
danger:
#endif
           if
           :: back[me]?reply ->
                  answer[me]!reply
           :: back[me]?close_connection ->
                  mine = 1;
#if !BUG
                  wire[me]!request,mine;
#endif
                  goto wait
           fi
    :: back[me]?close_connection ->
           mine = 1
    od
}

#define USER(i)                                                 \
    :: wire[i]?request,old ->                                   \
           if                                                   \
           :: old == connection[i] -> pending[i] = 1; pass_on(i)\
           :: else                                              \
           fi                                                   \
    :: !pending[i] && !connection[i] ->                         \
           connection[i] = 1;                                   \
           back[i]!close_connection

inline pass_on(user)
{
    if
    :: serve[0]!user
#if SERVERS > 1
    :: serve[1]!user
#endif
    fi
}

proctype Broker()
{
    byte who, servers;
    bit old;

    do
    :: servers < SERVERS -> registers?who; servers++
    :: else -> break
    od;
end:
    do
    :: served?who ->
           pending[who] = 0;
           back[who]!reply
    USER(0)
#if USERS > 1
    USER(1)
#endif
#if USERS > 2
    USER(2)
#endif
#if USERS > 3
    USER(3)
#endif
    od
}

proctype Server(byte me)
{
    byte who;

    registers!me;
end:
    do
    :: serve[me]?who -> served!who
    od
}

init {
    byte i;

    atomic {
        run Broker();
        for (i : 0 .. SERVERS - 1) {
            run Server(i)
        }
        for (i : 0 .. USERS - 1) {
            run Agent(i);
            run User(i)
        }
    }
}
