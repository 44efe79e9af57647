//! The order in which states are visited.
