/*
 * A tour of control flow.
 *
 * Models:     nothing; loops, jumps, escapes, process creation and what can be
 *             seen of another process, with assertions on what must hold.
 * Source:     written for this collection from the Promela manual pages.
 * Parameters: none
 * Expected:   verified; bounded_last is a formula over _last and holds.
 */
byte steps, alarm, caught;
byte table[5] = { 1, 2, 4, 8, 16 };
int total;

inline swap(a, b)
{
    byte tmp = a;                       /* every call has its own tmp */

    a = b;
    b = tmp
}

proctype Child(byte id; byte delta)
{
    byte seen = id;

working:
    seen = seen + delta;
waiting:
    (alarm > 0);
    caught++
}

active proctype Alarm()
{
    (steps >= 3);
    alarm = 1
}

init {
    byte i = 3, j = 4;
    pid child;

    /* loops */
    for (i : 1 .. 3) {
        total = total + i
    };
    for (j in table) {
        total = total + table[j]
    };
    assert(total == 6 + 31);
    do
    :: i > 1 -> i--
    :: i <= 1 -> break
    od;
    assert(i == 1 && j == 5);

    /* any value, in a small and in a large range */
    select (i : 1 .. 3);
    assert(i >= 1 && i <= 3);
    select (j : 10 .. 60);
    assert(j >= 10 && j <= 60);
    d_step { i = 1; j = 2 };

    swap(i, j);
    assert(i == 2 && j == 1);

    /* a process, looked at from outside */
    child = run Child(5, 2);
    assert(child == _pid + 1);
    (Child[child]@waiting);
    assert(Child[child]:seen == 7 && !Child[child]@working);

    /* the escape cuts the loop short, or ends it when it is stuck */
    {
        do
        :: steps < 10 -> steps++
        od
    } unless {
        alarm == 1 -> alarm = 2
    };
    assert(steps >= 3 && alarm == 2);

    /* if with nothing executable but else; goto out of nested blocks */
    if
    :: steps > 10 -> assert(false)
    :: else ->
           atomic {
               if
               :: steps >= 3 -> goto out
               :: else -> assert(false)
               fi
           }
    fi;
    assert(false);
out:
    (_nr_pr == 2 && caught == 1);
    timeout -> assert(caught == 1)
}

ltl bounded_last { [] (_last <= 2) }
