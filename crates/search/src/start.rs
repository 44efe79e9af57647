//! How a search begins: with room for states, of the kind that was asked for.

use spinward_machine::System;
use spinward_store::{Exact, Full, Store, Tree};

use crate::limits::Memory;
use crate::outcome::{Keep, Outcome, Progress, Request};

/// What a search is given.
pub(crate) struct Start<'a, S: System> {
    pub system: &'a S,
    pub scratch: &'a mut S::Scratch,
    pub request: &'a Request,
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// A search that works with any store, with what it needs besides.
pub(crate) trait Algorithm {
    /// Runs it; fails only if there is no room to begin.
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full>;
}

impl<S: System> Start<'_, S> {
    /// Runs a search with the store that was asked for.
    pub fn run<A: Algorithm>(self, algorithm: A) -> Outcome {
        let memory = Memory::new(self.request.limits.memory);
        let outcome =
            match self.request.keep {
                Keep::Exact => Exact::new(memory.budget())
                    .and_then(|store| algorithm.search(self, store, memory)),
                Keep::Tree => Tree::new(memory.budget())
                    .and_then(|store| algorithm.search(self, store, memory)),
            };
        outcome.unwrap_or_else(|full| Outcome::without_room(full.into()))
    }
}
