/*
 * A tour of channels.
 *
 * Models:     nothing; a single process sends messages to itself and states what
 *             every operation does.  A second one answers handshakes.
 * Source:     written for this collection from the Promela manual pages.
 * Parameters: none
 * Expected:   verified.
 */
mtype = { apple, pear };

typedef Pair {
    byte a;
    byte b
};

typedef Box {
    chan inside = [2] of { byte };
    byte size = 2
};

chan queue = [4] of { byte, byte };
chan words = [3] of { mtype, bool, short };
chan pairs = [2] of { Pair };
chan lines[2] = [1] of { byte };
chan names = [1] of { chan };
chan hands = [0] of { mtype, byte };
Box box;

active proctype Tour()
{
    byte x, y;
    short n;
    bool flag;
    mtype fruit;
    chan c;
    Pair pair;

    /* first in, first out */
    queue!1,10;
    queue!2,20;
    assert(len(queue) == 2);
    queue?x,y;
    assert(x == 1 && y == 10);
    queue?x,y;
    assert(empty(queue));

    /* a sorted send keeps the queue in order */
    queue!!3,30;
    queue!!1,11;
    queue!!2,20;
    queue!!1,10;
    assert(full(queue));
    queue?x,y;
    assert(x == 1 && y == 10);
    queue?1,y;                          /* a constant has to match */
    assert(y == 11 && nfull(queue) && nempty(queue));

    /* a random receive takes the first message that matches */
    queue??3,y;
    assert(y == 30 && len(queue) == 1);

    /* polls and copies leave the message where it is */
    assert(queue?[2,20] && !queue?[3,_] && queue??[eval(x + 1),_]);
    queue?<x,_>;
    assert(x == 2 && len(queue) == 1);
    queue?? <x,eval(2 * 10)>;           /* without the blank, a C trigraph */
    if
    :: queue?1,_ -> assert(false)
    :: queue?eval(len(queue) + 1),_     /* that is 2 */
    fi;
    assert(len(queue) == 0);

    /* fields are cut to their size, and the other way to write a message */
    words!apple(true, 40000);
    words!pear,0,-1;
    words?fruit(flag, n);
    assert(fruit == apple && flag && n == 40000 - 65536);
    words?pear(_, -1);

    /* a structure as a message */
    pair.a = 4;
    pair.b = 5;
    pairs!pair;
    pair.a = 0;
    pairs!6,7;
    pairs?pair;
    assert(pair.a == 4 && pair.b == 5);
    pairs?pair;
    assert(pair.a == 6 && pair.b == 7);

    /* channels as elements of arrays, of structures, and of messages */
    lines[1]!8;
    names!lines[1];
    names?c;
    c?x;
    assert(x == 8 && empty(lines[1]));
    box.inside!9;
    box.inside?x;
    assert(x == 9 && box.size == 2);

    /* a handshake */
    hands!pear(1);
    hands?apple(x);
    assert(x == 2)
}

active proctype Partner()
{
    byte x;

    hands?pear(x);
    assert(x == 1);
    hands!apple(x + 1)
}
