#if N +
init { skip }
#endif
