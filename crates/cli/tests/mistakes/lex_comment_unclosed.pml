init { skip }
/* and here it
ends
