/*
 * A tour of types and expressions.
 *
 * Models:     nothing; every line states a fact of the language as an assertion:
 *             ranges and wrap-around, operators and their precedence, mtype
 *             numbers, initial values, nested typedefs.
 * Source:     written for this collection from the Promela manual pages.
 * Parameters: none
 * Expected:   verified.
 */
mtype = { three, two, one };            /* the last name is number 1 ...      */
mtype = { five, four };                 /* ... and a further set continues    */
mtype:colour = { red, green, blue };    /* a named set has its own numbers    */

typedef Point {
    short x, y
};

typedef Shape {
    Point corner[3];
    mtype:colour colour = green;
    unsigned weight : 3;
    bool filled = true
};

Shape shape[2];
byte primes[4] = { 2, 3, 5, 7 };
byte sevens[3] = 7;                     /* one value for all                  */
short s = 32767;
int i = 2147483647;
unsigned u : 4 = 15;
show byte b = 255;
local bit t = 1;
pid p;

active proctype Tour()
{
    int x = -7;
    int y = 2;
    byte z;

    /* numbers of names */
    assert(three == 3 && two == 2 && one == 1 && five == 5 && four == 4);
    assert(red == 3 && green == 2 && blue == 1);
    assert(true == 1 && false == 0);
    assert('a' == 97);

    /* what starts as zero, and what does not */
    assert(shape[1].corner[2].y == 0 && shape[1].colour == green);
    assert(shape[0].filled && p == 0);
    assert(primes[0] + primes[1] + primes[2] + primes[3] == 17);
    assert(sevens[0] == 7 && sevens[2] == 7);

    /* values wrap around at the end of their range */
    b++;
    s++;
    i++;
    u++;
    t++;
    assert(b == 0 && s == -32768 && i < 0 && u == 0 && t == 0);
    b--;
    assert(b == 255);
    b = 300;
    shape[0].weight = 13;
    assert(b == 44 && shape[0].weight == 5);

    /* division goes towards zero, the remainder has the sign of the left side */
    assert(x / y == -3 && x % y == -1);
    assert(7 / -y == -3 && 7 % -y == 1);

    /* bits */
    assert((12 & 10) == 8 && (12 | 10) == 14 && (12 ^ 10) == 6 && ~0 == -1);
    assert((1 << 4) == 16 && (-16 >> 2) == -4);

    /* precedence: & binds weaker than ==, + stronger than << */
    assert((6 & 2 == 2) == 0);
    assert(1 << 1 + 1 == 4);
    assert(2 + 3 * 4 - 5 == 9 && 10 - 4 - 3 == 3);
    assert(!0 + 1 == 2);

    /* the right side of && and || is looked at only when it matters */
    assert(y > 0 || primes[y - 3] == 0);
    assert(!(y == 0 && x / y > 0));

    /* a conditional expression needs its parentheses */
    z = (x < 0 -> (y > 1 -> 1 : 2) : 3);
    assert(z == 1);

    /* structures all the way down */
    shape[1].corner[z].x = x;
    shape[1].corner[z + 1].x = shape[1].corner[z].x * 2;
    assert(shape[1].corner[2].x == -14);

    printf("x %d, shape %e, letter %c, octal %o, hex %x, unsigned %u\n",
        x, shape[1].colour, 'z', 8, 255, b);
    printm(two);

    _ = x;                              /* a value nobody wants */
    assert(_pid == 0 && _nr_pr == 1)
}
