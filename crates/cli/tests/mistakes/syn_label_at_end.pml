init { skip;
L:
}
