//! The meaning of a program: which steps a state has and what they do.
//!
//! [`Machine`] is the one place that defines it; simulation, search and replay all ask it. Searches
//! see it through [`System`], a graph of opaque states.

mod eval;
mod exec;
mod explore;
mod format;
mod judged;
mod look;
mod machine;
mod memory;
mod native;
mod shape;
mod stop;
mod symmetry;
pub mod system;
mod touched;
mod transfer;
pub mod view;
pub mod violation;

pub use explore::{QueueUse, Scratch, Touches};
pub use judged::{
    Fair, FairScratch, Fairness, Follower, Labelled, Product, ProductScratch, claim_automaton,
};
pub use look::{Look, Sight};
pub use machine::{Config, Machine, Move, Options};
pub use spinward_program::movers::Mover;
pub use stop::Stop;
pub use symmetry::{Quotient, QuotientScratch};
pub use system::{Actor, Cycles, Flow, Footprint, Marks, Sink, Step, System};
pub use transfer::{Transfer, Way};
pub use view::View;
pub use violation::{RuntimeError, Violation};
