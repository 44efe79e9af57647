//! The meaning of a program: which steps a state has and what they do.
