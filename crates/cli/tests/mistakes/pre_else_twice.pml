#ifdef A
#else
#else
#endif
init { skip }
