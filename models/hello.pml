/*
 * Two processes greet each other.
 *
 * Models:     one says hello, the other answers; neither speaks before its turn.
 * Source:     a first model, to see what a check looks like.
 * Parameters: RUDE (default 0)  1 = the second does not wait to be greeted
 * Expected:   verified; the answer never comes before the greeting.
 *             RUDE=1 is violated: the assertion fails.
 */
#ifndef RUDE
#define RUDE 0
#endif

bool greeted;           /* Alice said hello */
bool answered;          /* Bob said hello back */

active proctype Alice()
{
    greeted = true;
    answered            /* wait until Bob answers */
}

active proctype Bob()
{
#if !RUDE
    greeted;            /* wait until Alice says hello */
#endif
    answered = true;
    assert(greeted)
}
