/*
 * An object request broker: remote calls to an object that moves.
 *
 * Models:     CLIENTS clients call an object that lives on one of two servers
 *             and moves once.  Requests, replies, "object forward" answers and
 *             closed connections are messages, as in GIOP.  A client that is
 *             told the new place, or loses the connection, asks again.
 * Source:     written for this collection after the General Inter-ORB Protocol
 *             (OMG, 1996); GIOP as a test case is due to M. Kamel and S. Leue,
 *             2000.
 * Parameters: CLIENTS (default 2), CALLS (default 2)  calls per client
 *             BUG (default 0)  1 = a server that gives the object away drops
 *                              the requests that still wait in its queue
 *             DANGER (default 0)  1 = labels where processes wait for ever
 * Expected:   verified.  BUG=1 is violated: invalid end state, a client waits
 *             for a reply that never comes.
 */
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef BUG
#define BUG 0
#endif
#ifndef DANGER
#define DANGER 0
#endif

#define SERVERS     2
#define UNKNOWN     SERVERS

mtype = { request, reply, forward, close_connection, migrate };

typedef Call {
    byte client;
    byte id
};

chan to_server[SERVERS] = [CLIENTS + 1] of { mtype, Call };
chan to_client[CLIENTS] = [2] of { mtype, byte, byte };     /* kind, id, place */

byte done[CLIENTS];             /* calls the object has served, per client */

proctype Client(byte me)
{
    byte n, id, where;
    byte place = 0;             /* where the object was seen last */

    for (n : 1 .. CALLS) {
ask:
        to_server[place]!request,me,n;
#if DANGER
danger_unanswered:
#endif
        if
        :: to_client[me]?reply,eval(n),_ ->
               assert(done[me] == n)    /* served once and only once */
        :: to_client[me]?forward,id,where ->
               assert(id == n);
               place = where;
               goto ask
        :: to_client[me]?close_connection,_,_ ->
               place = 1 - place;
               goto ask
        fi
    }
}

proctype Server(byte me; bool has_object)
{
    Call call;

end:
#if DANGER
danger_idle:
#endif
    do
    :: to_server[me]?request,call ->
           if
           :: has_object ->
                  done[call.client]++;
                  to_client[call.client]!reply,call.id,me
           :: !has_object ->            /* two ways to say "not here" */
                  if
                  :: to_client[call.client]!forward,call.id,1 - me
                  :: to_client[call.client]!close_connection,0,0
                  fi
           fi
    :: to_server[me]?migrate,_,_ ->
           has_object = true
    :: has_object && me == 0 ->         /* the object moves to the other one */
           atomic {
               has_object = false;
               to_server[1 - me]!migrate,0,0
           };
#if BUG
           do
           :: to_server[me]?request,call
           :: empty(to_server[me]) -> break
           od
#endif
    od
}

init {
    byte i;

    atomic {
        for (i : 0 .. SERVERS - 1) {
            run Server(i, i == 0)
        }
        for (i : 0 .. CLIENTS - 1) {
            run Client(i)
        }
    }
}
