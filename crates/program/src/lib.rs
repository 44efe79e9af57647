//! A checked Promela model as automata over a flat state.
