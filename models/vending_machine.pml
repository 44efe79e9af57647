/*
 * A vending machine watched by a trace assertion.
 *
 * Models:     a customer and a machine that talk over two channels.  The trace
 *             block states the only allowed order of the messages: a coin, then
 *             a choice, then the cup, for ever.
 * Source:     C. A. R. Hoare, "Communicating sequential processes", 1985.
 * Parameters: GENEROUS (default 0)  1 = the machine may pour a second cup
 * Expected:   verified.  GENEROUS=1 is violated: trace error, the second cup
 *             does not match the next event of the trace.
 */
#ifndef GENEROUS
#define GENEROUS 0
#endif

mtype = { coin, choice, coffee, tea };

chan slot = [1] of { mtype, mtype };
chan tray = [1] of { mtype };

active proctype Customer()
{
    mtype wish;

    do
    :: slot!coin,coin;
       if
       :: wish = coffee
       :: wish = tea
       fi;
       slot!choice,wish;
       tray?_
    :: tray?_                           /* takes every cup there is */
    od
}

active proctype Machine()
{
    mtype wish;

    do
    :: slot?coin,_;
       slot?choice,wish;
       tray!wish;
#if GENEROUS
       if
       :: tray!wish
       :: skip
       fi
#endif
    od
}

trace {
    do
    :: slot!coin,_;
       slot!choice,_;
       if
       :: tray!coffee
       :: tray!tea
       fi
    od
}
