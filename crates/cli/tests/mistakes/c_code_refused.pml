init { c_code { printf("hi"); } }
