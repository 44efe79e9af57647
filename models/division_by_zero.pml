/*
 * A run-time error on purpose: a division by zero.
 *
 * Models:     a meter computes an average while a second process may reset the
 *             number of samples between the test and the division.
 * Source:     written for this collection.
 * Parameters: ATOMIC (default 0)  1 = test and division in one step
 * Expected:   violated: a run-time error, division by zero.  (SPIN's verifier
 *             is killed by a signal here and reports no numbers.)
 *             ATOMIC=1 is verified.
 */
#ifndef ATOMIC
#define ATOMIC 0
#endif

byte sum, samples;
byte average;

active proctype Meter()
{
    do
#if ATOMIC
    :: d_step { samples > 0 -> average = sum / samples }
#else
    :: samples > 0 ->
           average = sum / samples
#endif
    :: d_step { samples < 3 -> sum = sum + 2; samples++ }
    od
}

active proctype Reset()
{
    do
    :: d_step { sum = 0; samples = 0 }
    od
}
