//! Spinward, a directed explicit-state model checker for Promela, as a library.
