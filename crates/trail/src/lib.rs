//! Runs of a model: SPIN's trail format, replay, printing.
