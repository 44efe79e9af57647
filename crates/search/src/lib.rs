//! The order in which states are visited.
//!
//! Every search is written once, against [`System`](spinward_machine::System): it never asks what a state is.
//! [`dfs`] and [`bfs`] remember all states they have seen, [`lossy`] something of each, and [`stateless`] only
//! those it stands on; [`sweep`] looks at all states in any order; [`transactions`] lets one process go on as long
//! as that makes no difference; those in [`directed`] look first where an error seems near; those in [`emptiness`]
//! judge infinite runs. Each takes a [`Request`], keeps to its [`Limits`], and ends in an [`Outcome`] that says
//! what was found and whether anything was left out; none of them recurses.

pub mod aimed;
pub mod bfs;
mod buffer;
mod bytes;
mod carrying;
mod chunked;
pub mod dfs;
pub mod directed;
pub mod emptiness;
pub mod external;
mod findings;
mod limits;
pub mod lossy;
mod outcome;
mod rebuild;
pub mod reduced;
mod start;
pub mod stateless;
pub mod sweep;
pub mod transactions;
mod whole;

pub use limits::{Limit, Limits};
pub use outcome::{Counts, Found, Keep, OnDisk, Outcome, Place, Progress, Request, Stopped};
