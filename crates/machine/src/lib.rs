//! The meaning of a program: which steps a state has and what they do.
//!
//! [`Machine`] is the one place that defines it; simulation, search and replay all ask it. Searches
//! see it through [`System`], a graph of opaque states.

mod machine;
pub mod system;
pub mod view;
pub mod violation;

pub use machine::{Config, Machine, Move, Options, Scratch};
pub use system::{Flow, Sink, Step, System};
pub use view::View;
pub use violation::Violation;
