//! Promela text to checked syntax: preprocessor, lexer, parser, names, types, diagnostics.
