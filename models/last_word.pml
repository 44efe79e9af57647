/* Two speakers write on one board and leave. Who has the last word?

   Whoever writes last, so it is not always the first speaker, and the formula
   does not hold. The run that shows it ends: both speakers are gone, and the
   board stays as it is for ever. Such a run is fair to all processes, for there
   are none that could move.

   SPIN finds the error without weak fairness (pan -a), but not with it
   (pan -a -f): its tracker, number 38.  */

mtype = { nothing, first, second };

mtype board = nothing;

active proctype First()
{
	board = first
}

active proctype Second()
{
	board = second
}

ltl first_has_the_last_word { <> [] (board == first) }
