/* grüße */
init { skip }
