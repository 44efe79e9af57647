/*
 * The towers of Hanoi, with a process for each disk.
 *
 * Models:     DISKS disks on column A, the smallest on top, are to go to column C,
 *             one at a time and never onto a smaller one.  A disk that wants to move
 *             from one column to another asks the next smaller one whether it stands
 *             on the third column with all that are smaller still, which asks the
 *             next in turn.  Who says ok stays where it is until it hears done.
 *             The largest disk is 0, the smallest DISKS - 1: a number is a _pid.
 * Source:     E. Lucas, 1883; with disks that ask each other in K. Draeger,
 *             B. Finkbeiner and A. Podelski, "Directed model checking with
 *             distance-preserving abstractions", 2006 (benchmarks H4 to H8).
 * Parameters: DISKS (default 3)  how many, 2 to 8
 * Expected:   violated: the assertion fails when all disks are on column C, after
 *             2^DISKS - 1 moves on the shortest trail.
 */
#ifndef DISKS
#define DISKS 3
#endif

#define LARGER  link[_pid]
#define SMALLER link[_pid + 1]

mtype = { all_on_a, all_on_b, all_on_c,         /* questions */
          ok, no, done };

chan link[DISKS + 1] = [0] of { mtype };        /* between a disk and the next smaller */

/* What a disk does that is `here`: ask whether all smaller ones are on the column where it
   does not want to go, or be asked. */
#define STAND(here, there, elsewhere, all_here, all_there, all_elsewhere) \
    if \
    :: SMALLER!all_elsewhere -> \
       if \
       :: SMALLER?ok -> SMALLER!done; goto there \
       :: SMALLER?no -> goto here \
       fi \
    :: SMALLER!all_there -> \
       if \
       :: SMALLER?ok -> SMALLER!done; goto elsewhere \
       :: SMALLER?no -> goto here \
       fi \
    :: LARGER?all_here -> \
       SMALLER!all_here; \
       if \
       :: SMALLER?ok -> LARGER!ok; LARGER?done; SMALLER!done; goto here \
       :: SMALLER?no -> LARGER!no; goto here \
       fi \
    :: LARGER?all_there -> LARGER!no; goto here \
    :: LARGER?all_elsewhere -> LARGER!no; goto here \
    fi

active [DISKS - 1] proctype Disk()              /* 0 to DISKS - 2 */
{
on_a:
    STAND(on_a, on_b, on_c, all_on_a, all_on_b, all_on_c);
on_b:
    STAND(on_b, on_c, on_a, all_on_b, all_on_c, all_on_a);
on_c:
    STAND(on_c, on_a, on_b, all_on_c, all_on_a, all_on_b)
}

/* all but the smallest are where they should be */
#if DISKS == 2
#define OTHERS  Disk[0]@on_c
#elif DISKS == 3
#define OTHERS  (Disk[0]@on_c && Disk[1]@on_c)
#elif DISKS == 4
#define OTHERS  (Disk[0]@on_c && Disk[1]@on_c && Disk[2]@on_c)
#elif DISKS == 5
#define OTHERS  (Disk[0]@on_c && Disk[1]@on_c && Disk[2]@on_c && Disk[3]@on_c)
#elif DISKS == 6
#define OTHERS  (Disk[0]@on_c && Disk[1]@on_c && Disk[2]@on_c && Disk[3]@on_c && \
                 Disk[4]@on_c)
#elif DISKS == 7
#define OTHERS  (Disk[0]@on_c && Disk[1]@on_c && Disk[2]@on_c && Disk[3]@on_c && \
                 Disk[4]@on_c && Disk[5]@on_c)
#else
#define OTHERS  (Disk[0]@on_c && Disk[1]@on_c && Disk[2]@on_c && Disk[3]@on_c && \
                 Disk[4]@on_c && Disk[5]@on_c && Disk[6]@on_c)
#endif

active proctype Smallest()                      /* may move at any time */
{
on_a:
    if
    :: true -> goto on_b
    :: true -> goto on_c
    :: LARGER?all_on_a -> LARGER!ok; LARGER?done; goto on_a
    :: LARGER?all_on_b -> LARGER!no; goto on_a
    :: LARGER?all_on_c -> LARGER!no; goto on_a
    fi;
on_b:
    if
    :: true -> goto on_c
    :: true -> goto on_a
    :: LARGER?all_on_b -> LARGER!ok; LARGER?done; goto on_b
    :: LARGER?all_on_c -> LARGER!no; goto on_b
    :: LARGER?all_on_a -> LARGER!no; goto on_b
    fi;
on_c:
    if
    :: true -> goto on_a
    :: true -> goto on_b
    :: LARGER?all_on_c -> LARGER!ok; LARGER?done; goto on_c
    :: LARGER?all_on_a -> LARGER!no; goto on_c
    :: LARGER?all_on_b -> LARGER!no; goto on_c
    :: assert(!OTHERS) -> goto on_c
    fi
}

ltl unsolved { [] !(OTHERS && Smallest@on_c) }
