/*
 * A run-time error on purpose: an index outside its array.
 *
 * Models:     two readers of a table of SIZE entries share a cursor.  Each one
 *             tests it and moves it in separate steps, so it can be moved past
 *             the end.
 * Source:     written for this collection.
 * Parameters: SIZE (default 3)
 *             ATOMIC (default 0)  1 = test and move in one step
 * Expected:   violated: a run-time error, invalid array index.
 *             ATOMIC=1 is verified.
 */
#ifndef SIZE
#define SIZE 3
#endif
#ifndef ATOMIC
#define ATOMIC 0
#endif

byte table[SIZE] = 7;
byte cursor;

active [2] proctype Reader()
{
    do
#if ATOMIC
    :: atomic { cursor < SIZE -> assert(table[cursor] >= 0); cursor++ }
#else
    :: cursor < SIZE ->
           assert(table[cursor] >= 0);  /* reads the table, always true */
           cursor++
#endif
    :: cursor >= SIZE ->
           break
    od
}
