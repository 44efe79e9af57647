#include "nowhere.pml"
init { skip }
