/*
 * The Needham-Schroeder public key protocol and the man in the middle.
 *
 * Models:     Alice starts a session with Bob or with the intruder, Bob answers
 *             whoever seems to call.  All messages go through the intruder, who
 *             reads what is encrypted with his own key, keeps one message of
 *             others to replay, and makes up new ones from what he knows.
 * Source:     R. Needham and M. Schroeder, 1978; the attack and the repair are
 *             by G. Lowe, "Breaking and fixing the Needham-Schroeder public-key
 *             protocol using FDR", 1996.
 * Parameters: LOWE (default 0)  1 = Lowe's repair: the second message names
 *                               the responder
 * Expected:   violated: the assertion fails, Bob believes to talk to Alice, who
 *             never called him.  LOWE=1 is verified.
 */
#ifndef LOWE
#define LOWE 0
#endif

mtype = { alice, bob, intruder,                 /* names, and their keys  */
          nonce_a, nonce_b, nonce_i, nothing }; /* contents of a message  */

/* encrypted for the owner of key; which receiver looks at it is up to the net */
typedef Message {
    mtype key;
    mtype part1;
    mtype part2;
    mtype part3
};

chan sent     = [0] of { Message };     /* honest -> intruder             */
chan to_alice = [0] of { Message };     /* intruder -> honest             */
chan to_bob   = [0] of { Message };

mtype alice_partner = nothing;
mtype bob_partner = nothing;

active proctype Alice()
{
    mtype nonce, responder;

    if
    :: alice_partner = bob
    :: alice_partner = intruder
    fi;
    sent!alice_partner,nonce_a,alice,nothing;
end:
    atomic {
        to_alice?eval(alice),eval(nonce_a),nonce,responder;
        (!LOWE || responder == alice_partner)   /* else stuck: not for her */
    };
    sent!alice_partner,nonce,nothing,nothing
}

active proctype Bob()
{
    mtype nonce;

end:
    to_bob?eval(bob),nonce,bob_partner,nothing;
    sent!bob_partner,nonce,nonce_b,(LOWE -> bob : nothing);
end_reply:
    to_bob?eval(bob),eval(nonce_b),nothing,nothing;
    assert(bob_partner != alice || alice_partner == bob)
}

bool knows_a, knows_b;          /* the intruder knows the nonce of Alice, Bob */

inline learn(x)
{
    knows_a = (knows_a || x == nonce_a);
    knows_b = (knows_b || x == nonce_b)
}

/* the intruder offers a message, but never insists on it */
inline offer(receiver, key_owner, p1, p2, p3)
{
    if
    :: receiver!key_owner,p1,p2,p3
    :: skip
    fi
}

inline any_known_nonce(x)
{
    if
    :: x = nonce_i
    :: knows_a -> x = nonce_a
    :: knows_b -> x = nonce_b
    fi
}

active proctype Intruder()
{
    Message seen, kept;
    bool has_kept;
    mtype n1, n2, name;

end:
    do
    :: atomic {
           sent?seen;
           if
           :: seen.key == intruder ->
                  learn(seen.part1);
                  learn(seen.part2)
           :: else ->
                  kept.key = seen.key;
                  kept.part1 = seen.part1;
                  kept.part2 = seen.part2;
                  kept.part3 = seen.part3;
                  has_kept = true
           fi
       }
    :: has_kept && kept.key == alice ->
       offer(to_alice, alice, kept.part1, kept.part2, kept.part3)
    :: has_kept && kept.key == bob ->
       offer(to_bob, bob, kept.part1, kept.part2, kept.part3)
    :: atomic {                         /* pretends to start a session   */
           any_known_nonce(n1);
           if
           :: name = alice
           :: name = intruder
           fi
       };
       offer(to_bob, bob, n1, name, nothing)
    :: atomic {                         /* pretends to answer Alice      */
           knows_a ->
           any_known_nonce(n2);
           if
           :: name = bob
           :: name = intruder
           :: name = nothing
           fi
       };
       offer(to_alice, alice, nonce_a, n2, name)
    :: knows_b ->                       /* the last message of a session */
       offer(to_bob, bob, nonce_b, nothing, nothing)
    od
}
