#if 1 / 0
#endif
init { skip }
