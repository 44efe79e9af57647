active proctype P { skip }
