//! What a search may use.
//!
//! Each limit ends a search cleanly: what was found stays found, and the [`Limit`] says what ended
//! it. Memory is counted before it is taken, so that the budget is never exceeded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a search may use; by default everything.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Runs of at most so many steps are looked at.
    pub max_depth: Option<u64>,
    /// So many states are visited.
    pub max_states: Option<u64>,
    /// Time.
    pub time: Option<Duration>,
    /// Bytes for states, stacks and queues.
    pub memory: Option<u64>,
    /// Set from outside: give up. The system may look at it too.
    pub stop: Arc<AtomicBool>,
}

/// What ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`Limits::max_states`]
    States,
    /// [`Limits::time`]
    Time,
    /// [`Limits::memory`]
    Memory,
    /// [`Limits::stop`]
    Interrupt,
    /// More states than can be numbered.
    Numbers,
}
