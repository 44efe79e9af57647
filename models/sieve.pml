/*
 * The sieve of Eratosthenes as a growing pipeline of processes.
 *
 * Models:     a generator sends 2, 3, ..., LAST; every process keeps the first
 *             number it gets, a prime, starts its successor when it needs one,
 *             and passes on what its prime does not divide.
 * Source:     M. D. McIlroy, "Coroutines", 1968; C. A. R. Hoare, 1978.
 * Parameters: LAST (default 20)  the largest number tested
 *             SIZE (default 1)   capacity of the channels, 0 = handshake
 * Expected:   verified.
 */
#ifndef LAST
#define LAST 20
#endif
#ifndef SIZE
#define SIZE 1
#endif

mtype = { number, done };

byte primes;

proctype Filter(chan in)
{
    chan out = [SIZE] of { mtype, byte };
    byte prime, n;
    bool has_successor;

    in?number(prime);
    printf("prime %d\n", prime);
    primes++;
    do
    :: in?number(n) ->
           if
           :: n % prime == 0
           :: else ->
                  if
                  :: !has_successor ->
                         has_successor = true;
                         run Filter(out)
                  :: else
                  fi;
                  out!number(n)
           fi
    :: in?done(_) ->
           if
           :: has_successor -> out!done(0)
           :: else
           fi;
           break
    od
}

init {
    chan first = [SIZE] of { mtype, byte };
    byte n;

    run Filter(first);
    for (n : 2 .. LAST) {
        first!number(n)
    }
    first!done(0);
    (_nr_pr == 1);
    assert(LAST != 20 || primes == 8)
}
