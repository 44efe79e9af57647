/*
 * Leader election in a one-way ring with O(n log n) messages.
 *
 * Models:     N nodes in a ring.  In each phase an active node compares the
 *             number it holds with those of its two nearest active neighbours
 *             upstream and stays active only if the middle one is the largest;
 *             the other nodes only relay.
 * Source:     D. Dolev, M. Klawe, M. Rodeh, "An O(n log n) unidirectional
 *             distributed algorithm for extrema finding in a circle", 1982.
 * Parameters: N (default 5)  number of nodes
 * Expected:   verified; the formula one_leader holds.
 */
#ifndef N
#define N 5
#endif

/* small and large numbers by turns: 1, N, 2, N - 1, ... */
#define NUMBER(i)   ((i) % 2 -> N - (i) / 2 : (i) / 2 + 1)

mtype = { first, second, winner };

chan ring[N] = [2] of { mtype, byte };
byte leaders;

proctype Node(chan in, out; byte number)
{
    bool active_node = true;
    byte held = number;         /* the number this node stands for  */
    byte neighbour, n;

    xr in;
    xs out;

    out!first(held);
    do
    :: in?first(n) ->
           if
           :: active_node && n != held ->
                  neighbour = n;
                  out!second(n)
           :: active_node && n == held ->       /* once around the ring */
                  assert(n == N);
                  out!winner(n);
                  break
           :: else ->
                  out!first(n)
           fi
    :: in?second(n) ->
           if
           :: active_node && neighbour > n && neighbour > held ->
                  held = neighbour;
                  out!first(held)
           :: active_node && !(neighbour > n && neighbour > held) ->
                  active_node = false
           :: else ->
                  out!second(n)
           fi
    :: in?winner(n) ->
           out!winner(n);
           break
    od;
    if
    :: n == number ->                   /* the winner is the owner of n */
           leaders++;
           assert(leaders == 1)
    :: else
    fi;
end_drain:
    do
    :: in?winner(_)                     /* the announcement comes home  */
    od
}

init {
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            run Node(ring[i], ring[(i + 1) % N], NUMBER(i))
        }
    }
}

ltl one_leader { <> [] (leaders == 1) }
