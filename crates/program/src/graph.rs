//! The automata as pictures and data.
