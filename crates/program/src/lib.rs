//! A checked model as automata over a flat state.
//!
//! [`ir`] is what every later room works on: one automaton for each body of the model, its transitions with guard
//! and effect in terms of offsets into the state, and the tables that say what a state holds. [`lower()`] makes it
//! from syntax, with SPIN's numbers for elements and local states, so that trails and state tables agree with
//! SPIN's. [`optimize`] makes one with fewer states out of it, [`independence`], [`movers`] and [`symmetry`] tell
//! what may be left out of a search of it, [`exclusive`] what processes claim for themselves, [`follow`] which
//! never claims are automata like those of formulas, [`graph`] draws it. [`distances`], [`rates`] and [`blocking`]
//! tell how far a process or a value is from where something goes wrong.

pub mod access;
pub mod blocking;
pub mod channels;
pub mod distances;
pub mod exclusive;
pub mod follow;
pub mod formula;
pub mod graph;
pub mod independence;
pub mod ir;
mod locks;
pub mod lower;
pub mod movers;
pub mod optimize;
mod pipes;
pub mod ranges;
pub mod rates;
pub mod symmetry;
#[cfg(test)]
mod testing;
pub mod touches;
mod ways;

pub use ir::Program;
pub use lower::lower;
