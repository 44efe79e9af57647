//! What a search is asked and what it answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use spinward_machine::{Step, Violation};

use crate::limits::{Limit, Limits};

/// What a search is asked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What it may use.
    pub limits: Limits,
    /// Stop after so many different errors; 0: explore everything.
    pub errors: usize,
    /// The runs reported must be shortest ones (breadth-first search always sees to that).
    pub shortest: bool,
    /// How states are kept.
    pub keep: Keep,
    /// How many threads may search, if the search can use them; at least one does.
    pub threads: usize,
    /// Whether moves may be left out that make no difference.
    pub reduces: bool,
}

impl Request {
    /// The same when some of the time is over.
    pub(crate) fn later(&self, elapsed: Duration) -> Self {
        let time = self.limits.time.map(|time| time.saturating_sub(elapsed));
        Self { limits: Limits { time, ..self.limits.clone() }, ..self.clone() }
    }
}

/// How states are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// As they are.
    #[default]
    Exact,
    /// As trees with shared parts.
    Tree,
}

/// What a search answers.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One example of each kind of error at each place, at most [`Outcome::MAX_ERRORS`].
    pub errors: Vec<Found>,
    /// How often an error was met of which no run is known, because a limit was hit.
    pub met: u64,
    /// What was counted.
    pub counts: Counts,
    /// What ended the search before it had seen everything.
    pub stopped: Option<Stopped>,
    /// Whether the bound on the depth cut off states that were not seen otherwise.
    pub truncated: bool,
}

impl Outcome {
    /// Of how many different errors a run is kept.
    pub const MAX_ERRORS: usize = 1000;

    /// There was not even room for an empty store.
    pub(crate) fn without_room(limit: Limit) -> Self {
        Self {
            errors: Vec::new(),
            met: 0,
            counts: Counts::default(),
            stopped: Some(Stopped::Limit(limit)),
            truncated: false,
        }
    }

    /// Whether everything was seen.
    pub fn is_complete(&self) -> bool {
        self.stopped.is_none() && !self.truncated
    }
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// As many errors as were asked for.
    Errors,
    /// A limit.
    Limit(Limit),
    /// It looks only at a part, and has; so many states that it met are not in it, if that can be told.
    LeftOut(Option<u64>),
}

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

/// An error and a run that shows it.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is wrong.
    pub violation: Violation,
    /// From the initial state to the error.
    pub steps: Vec<Step>,
    /// Of an infinite run: after how many of them those begin that go on for ever.
    pub cycle: Option<usize>,
    /// How often it was met.
    pub occurrences: u64,
    /// Whether no run to this error is shorter.
    pub shortest: bool,
}

/// Errors are different if their kind or their place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(std::mem::Discriminant<Violation>, Option<u32>);

impl Place {
    /// Where and of what kind an error is.
    pub fn of(violation: Violation) -> Self {
        let place = violation.condition().or(violation.transition().map(|id| id.0));
        Self(std::mem::discriminant(&violation), place)
    }
}

/// What a search counts, in SPIN's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// States visited.
    pub states: u64,
    /// Successors looked at, and one for the initial state: SPIN's stored + matched.
    pub transitions: u64,
    /// States whose successors were computed.
    pub expanded: u64,
    /// States expanded once more, because a shorter way to them was found.
    pub reopened: u64,
    /// In a search by transactions: states in which others had their turn only because a transaction that
    /// had committed was not seen to end.
    pub forced_completions: u64,
    /// The longest run looked at, in steps.
    pub depth: u64,
    /// How often an error was met.
    pub errors: u64,
    /// Bytes of the largest state.
    pub state_bytes: u64,
    /// The most bytes in use at a time.
    pub memory: u64,
}

impl Counts {
    /// Successors that were known already.
    pub fn matched(&self) -> u64 {
        self.transitions.saturating_sub(self.states)
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What was counted so far; `memory` is that in use now.
    pub counts: Counts,
    /// The depth or level where it is.
    pub depth: u64,
    /// In a search by a guide: how far from an error the state at hand seems.
    pub estimate: Option<u32>,
    /// Time since the start.
    pub elapsed: Duration,
    /// States a second since the last event.
    pub rate: f64,
    /// The steps of the best run to an error so far, if shorter ones are looked for.
    pub best: Option<u32>,
    /// After what time a sweep met an error, if a run to it is looked for now.
    pub met: Option<Duration>,
    /// What is on disk, if anything is.
    pub disk: Option<OnDisk>,
}

/// What is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// Bytes.
    pub bytes: u64,
    /// How many states that waited were found to be known.
    pub removed: u64,
    /// How many states wait, some of them perhaps known.
    pub waiting: u64,
}
