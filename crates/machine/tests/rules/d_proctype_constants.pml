// 7 states, 10 transitions, 2 errors
/* A D_proctype minds no guard that is the constant 1, by whatever name; it minds other constants. */
mtype = { two, one };

active D_proctype P() {
    byte x;
    if
    :: x = 1
    :: one
    fi;
    if
    :: x = 2
    :: two
    fi
}
