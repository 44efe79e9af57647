/*
 * Tokens go round a ring of queues, as in src/token_ring.rs: a step there is a step here.
 *
 * Expected: verified; no token is made up.
 */
#define N      10       /* nodes */
#define TOKENS 6        /* the first nodes have one each */
#define SIZE   2        /* tokens that wait for a node */
#define ROUNDS 6        /* nodes count what they pass on, up to this */

#define MINE   ring[_pid]
#define NEXT   ring[(_pid + 1) % N]

chan ring[N] = [SIZE] of { byte };

active [N] proctype Node()
{
    byte token;         /* the token in hand, 0 is none */
    byte passed;

    d_step { token = (_pid < TOKENS -> _pid + 1 : 0) };
    do
    :: d_step { token == 0 && nempty(MINE) -> MINE?token; assert(token <= TOKENS) }
    :: d_step { token > 0 && nfull(NEXT) ->
                NEXT!token; token = 0; passed = (passed + 1) % ROUNDS }
    od
}
