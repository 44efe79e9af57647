/* A firm with one worker hires a second one.

   The first worker may have gone home by then, or not yet: then the second one
   gets another number than the first, and does not find its desk.

   Whether a process dies before another one is created decides what number that
   one gets. So the two must not be taken for independent of each other.  */

#define DESK 1

active proctype Firm()
{
	run Worker()
}

active proctype Worker()
{
	assert(_pid == DESK)
}
