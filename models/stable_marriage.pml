/*
 * Stable marriage: men propose, women keep the best so far.
 *
 * Models:     N men and N women, all as processes.  A man proposes to one woman
 *             after the other, in his order of preference; a woman answers the
 *             worse suitor with a refusal.  When all are quiet, no man and
 *             woman may prefer each other to the partners they have.
 * Source:     D. Gale and L. Shapley, "College admissions and the stability of
 *             marriage", 1962; "marriers" is a benchmark of directed model
 *             checking (after K. McMillan).
 * Parameters: N (default 3)
 *             LOYAL (default 0)  1 = a woman stays with her first suitor
 *             SHY (default 0)    1 = a woman who leaves a man does not tell
 *                                him, and the matchmaker waits for N weddings
 *             DANGER (default 0) 1 = labels where they wait for ever
 * Expected:   verified.  LOYAL=1 is violated: the assertion fails.  SHY=1 is
 *             violated: invalid end state, somebody waits for a word.
 */
#ifndef N
#define N 3
#endif
#ifndef LOYAL
#define LOYAL 0
#endif
#ifndef SHY
#define SHY 0
#endif
#ifndef DANGER
#define DANGER 0
#endif

#define NOBODY  N

/* man m likes favourite[m] most, then the next woman, and so on, in a circle */
#define CHOICE(m, k)    ((favourite[m] + (k)) % N)
/* how woman w ranks man m: 0 is the best */
#define RANK(w, m)      (((m) + N - (w)) % N)

byte favourite[N];
byte wife[N] = NOBODY;
byte husband[N] = NOBODY;
#if SHY
byte weddings;
#endif

chan proposal[N] = [N] of { byte };             /* to woman w, from man     */
chan refusal[N] = [1] of { bit };               /* to man m                 */

proctype Man(byte m)
{
    byte k, w;

    for (k : 0 .. N - 1) {
        w = CHOICE(m, k);
        wife[m] = w;
        proposal[w]!m;
end_accepted:
#if DANGER
danger_accepted:
#endif
        refusal[m]?_;
        wife[m] = NOBODY
    }
    assert(false)                               /* refused by all: cannot be */
}

proctype Woman(byte w)
{
    byte m;

end:
#if DANGER
danger_unasked:
#endif
    do
    :: proposal[w]?m ->
           if
           :: husband[w] == NOBODY ->
#if SHY
                  weddings++;
#endif
                  husband[w] = m
           :: husband[w] != NOBODY && !LOYAL && RANK(w, m) < RANK(w, husband[w]) ->
#if !SHY
                  refusal[husband[w]]!1;
#endif
                  husband[w] = m
           :: else ->
                  refusal[m]!1
           fi;
           m = 0
    od
}

active proctype Matchmaker()
{
    byte i, m, w;
    byte married;

    atomic {
        for (i in favourite) {
            select (w : 0 .. N - 1);
            favourite[i] = w
        }
        for (i : 0 .. N - 1) {
            run Woman(i)
        }
        for (i : 0 .. N - 1) {
            run Man(i)
        }
    }
#if SHY
#if DANGER
danger_too_few:
#endif
    weddings == N;
#endif
    timeout;                                    /* everybody has settled */
    d_step {
        for (m : 0 .. N - 1) {
            for (w : 0 .. N - 1) {
                married = married + (wife[m] == w && husband[w] == m);
                assert(!((w + N - favourite[m]) % N < (wife[m] + N - favourite[m]) % N
                         && RANK(w, m) < RANK(w, husband[w])))
            }
        };
        assert(married == N)
    }
}
