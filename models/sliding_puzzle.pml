/*
 * The sliding puzzle: a search for the way back to order.
 *
 * Models:     ROWS x COLUMNS squares with numbered tiles and one hole.  A step
 *             moves a tile into the hole.  At the start the tiles are in reverse
 *             order, which is solvable for the default size and for ROWS=3.
 * Source:     N. P. Chapman, 1874 (the fifteen puzzle).
 * Parameters: ROWS (default 2), COLUMNS (default 3)
 *             SWAP (default 0)  1 = two tiles are exchanged by hand first
 * Expected:   violated: the assertion "not solved" fails; the trail is a
 *             solution.  SWAP=1 is verified: the parity is wrong.
 *             ROWS=3 is the 8-puzzle with its 181440 positions; the
 *             shortest solutions take 14 and 30 moves.
 */
#ifndef ROWS
#define ROWS 2
#endif
#ifndef COLUMNS
#define COLUMNS 3
#endif
#ifndef SWAP
#define SWAP 0
#endif

#define SIZE    (ROWS * COLUMNS)

byte tile[SIZE];                /* 0 = the hole */
byte hole;
byte misplaced;                 /* tiles not where they belong */

inline move_from(square)
{
    d_step {
        misplaced = misplaced - (tile[square] != square);
        tile[hole] = tile[square];
        misplaced = misplaced + (tile[hole] != hole);
        tile[square] = 0;
        hole = square
    }
}

init {
    d_step {
        byte i;

        for (i : 1 .. SIZE - 1) {       /* hole at square 0, then descending */
            tile[i] = SIZE - i
        };
        if
        :: SWAP -> i = tile[1]; tile[1] = tile[2]; tile[2] = i
        :: else
        fi;
        for (i : 1 .. SIZE - 1) {
            misplaced = misplaced + (tile[i] != i)
        };
        i = 0
    };
    do
    :: hole % COLUMNS > 0 -> move_from(hole - 1)
    :: hole % COLUMNS < COLUMNS - 1 -> move_from(hole + 1)
    :: hole >= COLUMNS -> move_from(hole - COLUMNS)
    :: hole < SIZE - COLUMNS -> move_from(hole + COLUMNS)
    :: misplaced == 0 -> assert(false)
    od
}
