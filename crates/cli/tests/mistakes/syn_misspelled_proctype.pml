active proctyp P() { skip }
