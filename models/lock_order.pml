/*
 * Two locks in two orders: the everyday deadlock.
 *
 * Models:     CLIENTS processes move money between two accounts; each account
 *             has a lock.  One direction locks the first account first, the
 *             other one the second.
 * Source:     folklore; the cure, a fixed order, is J. W. Havender's, 1968.
 * Parameters: CLIENTS (default 3)
 *             ORDERED (default 0)  1 = always lock the first account first
 * Expected:   violated: invalid end state.  ORDERED=1 is verified.
 */
#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef ORDERED
#define ORDERED 0
#endif

#define TOTAL   4

typedef Account {
    bool locked;
    byte amount = TOTAL / 2
};
Account account[2];

inline lock(i)   { d_step { !account[i].locked -> account[i].locked = true } }
inline unlock(i) { account[i].locked = false }

active [CLIENTS] proctype Client()
{
    bit from;

    do
    :: if
       :: from = 0
       :: from = 1
       fi;
       if
       :: from == 0 || ORDERED -> lock(0); lock(1)
       :: else -> lock(1); lock(0)
       fi;
       if
       :: account[from].amount > 0 ->
              account[from].amount--;
              account[1 - from].amount++
       :: else
       fi;
       assert(account[0].amount + account[1].amount == TOTAL);
       unlock(1);
       unlock(0)
    od
}
