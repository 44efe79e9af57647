init { printf("hello\n) }
