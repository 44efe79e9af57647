/*
 * Mutual exclusion by a tree of arbiters, and a client that is done twice.
 *
 * Models:     2^H clients are the leaves of a tree of height H whose inner nodes are
 *             arbiters.  Everybody talks by handshakes with the node above: an
 *             arbiter passes a request up and the grant down, serves one child at a
 *             time, and passes releases up, whichever child they come from.  Above
 *             the tree is what all of them want.  Nodes have numbers as in a heap:
 *             the children of n are 2n and 2n + 1, and a number is a _pid.
 * Source:     C. Seitz, "Ideas about arbiters", 1980; with a faulty client and one
 *             pair of clients to be kept apart in K. Draeger, B. Finkbeiner and
 *             A. Podelski, "Directed model checking with distance-preserving
 *             abstractions", 2006 (benchmarks A2 to A6).
 * Parameters: H (default 2)       height of the tree, 2 to 6; there are 2^(H + 1)
 *                                 processes
 *             FAULTY (default 1)  0: the first client is correct, too
 *             BEFORE, BETWEEN     clients to the left of the faulty one, and between its
 *                                 neighbour and the last: both even, and so that the last
 *                                 is in the other half
 * Expected:   violated: the assertion fails, because the second release of the first
 *             client gives away what the second one holds, and the last one gets it.
 *             Where they stand makes no difference to the states and runs there are, only
 *             to which a search sees first.
 *             The shortest run is linear in H.
 *             FAULTY=0 is verified, and mutual_exclusion holds.
 *             SPIN's verifier needs -DVECTORSZ=4096 for H=5 and H=6.
 */
#ifndef H
#define H 2
#endif
#ifndef FAULTY
#define FAULTY 1
#endif

#if H == 2
#define CLIENTS 4
#elif H == 3
#define CLIENTS 8
#elif H == 4
#define CLIENTS 16
#elif H == 5
#define CLIENTS 32
#else
#define CLIENTS 64
#endif

#define LEFT    edge[2 * _pid]
#define RIGHT   edge[2 * _pid + 1]
#define UP      edge[_pid]

mtype = { request, grant, release };

chan edge[2 * CLIENTS] = [0] of { mtype };      /* between a node and the one above */

active proctype Resource()                      /* 0 */
{
    do
    :: edge[1]?request -> edge[1]!grant; edge[1]?release
    :: edge[1]?release                          /* as if it had been taken */
    od
}

active [CLIENTS - 1] proctype Arbiter()         /* 1 to CLIENTS - 1 */
{
idle:
    if
    :: LEFT?request -> UP!request; UP?grant; LEFT!grant
    :: RIGHT?request -> UP!request; UP?grant; RIGHT!grant
    :: LEFT?release -> goto pass
    :: RIGHT?release -> goto pass
    fi;
    if
    :: LEFT?release
    :: RIGHT?release
    fi;
pass:
    UP!release;
    goto idle
}

#ifndef BEFORE
#define BEFORE  (CLIENTS / 8 * 2)
#endif
#ifndef BETWEEN
#define BETWEEN (CLIENTS / 2 - 2)
#endif
#define AFTER   (CLIENTS - BEFORE - BETWEEN - 3)

#define TURN    UP!request; UP?grant; UP!release

#if H > 2
active [BEFORE] proctype Early()
{
    do
    :: TURN
    od
}
#endif

active proctype First()                         /* the faulty one */
{
    do
    :: UP!request;
       UP?grant;
       UP!release;
#if FAULTY
       UP!release
#endif
    od
}

active proctype Second()                        /* its neighbour */
{
    do
    :: UP!request;
       UP?grant;
critical:
       UP!release
    od
}

#if BETWEEN > 0
active [BETWEEN] proctype Client()
{
    do
    :: TURN
    od
}
#endif

active proctype Last()                          /* in the other half of the tree */
{
    do
    :: UP!request;
       UP?grant;
critical:
       assert(!Second@critical);
       UP!release
    od
}

#if AFTER > 0
active [AFTER] proctype Late()
{
    do
    :: TURN
    od
}
#endif

ltl mutual_exclusion { [] !(Second@critical && Last@critical) }
