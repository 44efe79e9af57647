//! Searches that look first where an error seems near.
//!
//! A [guide](spinward_guide::Guide) tells how far a state is from an error; the searches here differ in what they
//! make of it: [`best_first`] keeps all states and takes the best, which is A* if the length of the run so far
//! counts too; [`ida`] finds the runs of A* depth first. The others do not look at everything: [`beam`] keeps the
//! best states of each level, [`hill`] goes on from the first that is better, [`random`] walks, and [`swarm`] goes
//! by chance alone, depth first, in many ways at once.

mod ahead;
pub mod beam;
pub mod best_first;
mod chance;
mod fresh;
pub mod hill;
pub mod ida;
mod known;
pub(crate) mod open;
pub mod random;
mod runs;
pub mod swarm;

use spinward_guide::Guide;
use spinward_machine::System;
use spinward_store::{Exact, Full, Store, Tree};

use crate::limits::Memory;
use crate::outcome::{Keep, Outcome};
use crate::start::Start;
use known::Shared;

/// What a directed search is given beside a request.
#[derive(Clone, Copy)]
pub struct Directed<'a> {
    /// Estimates how far states are from an error.
    pub guide: &'a dyn Guide,
    /// Tells for sure how many steps are still to come at least, if another one than the guide knows.
    pub bound: Option<&'a dyn Guide>,
}

/// The smallest and the largest estimate that a search met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest.
    pub least: u32,
    /// The largest, of those that are no [never](spinward_guide::NEVER).
    pub most: u32,
}

impl Range {
    /// That of one estimate.
    pub(crate) fn of(estimate: u32) -> Self {
        Self { least: estimate, most: if estimate == spinward_guide::NEVER { 0 } else { estimate } }
    }

    /// Takes in one more.
    pub(crate) fn note(&mut self, estimate: u32) {
        let Self { least, most } = Self::of(estimate);
        *self = Self { least: self.least.min(least), most: self.most.max(most) };
    }
}

/// A search that keeps the states it knows in a store of either kind.
trait Method {
    /// Runs it; fails only if there is no room to begin.
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        shared: &Shared<'_, S, T>,
    ) -> Result<(Outcome, Range), Full>;
}

/// Runs a search with the store that was asked for.
fn begin<S: System>(
    start: Start<'_, S>,
    directed: Directed<'_>,
    method: impl Method,
) -> (Outcome, Range) {
    let memory = Memory::new(start.request.limits.memory);
    let system = start.system;
    let answer = match start.request.keep {
        Keep::Exact => Exact::new(memory.budget())
            .map(|store| Shared::new(system, directed, store, memory))
            .and_then(|shared| method.search(start, &shared)),
        Keep::Tree => Tree::new(memory.budget())
            .map(|store| Shared::new(system, directed, store, memory))
            .and_then(|shared| method.search(start, &shared)),
    };
    answer.unwrap_or_else(|full| (Outcome::without_room(full.into()), Range::of(0)))
}
