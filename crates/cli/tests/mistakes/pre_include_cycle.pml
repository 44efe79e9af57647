#include "pre_include_cycle.pml"
init { skip }
