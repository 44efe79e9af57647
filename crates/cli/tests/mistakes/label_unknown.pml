init { goto done }
