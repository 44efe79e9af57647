//! Depth-first search that remembers only the run it is on.
//!
//! Holzmann, *The SPIN Model Checker*, figure 8.5. Memory is that of one run and of the successors
//! that wait along it; a state is visited once for each way to it that meets no state twice, so this
//! is for models that branch little, or for a bound on the depth. Each visit counts as a state.
//!
//! *Invariant*: `OnRun` holds exactly the keys of the current run.

use std::collections::HashSet;

use spinward_machine::System;

use crate::carrying::{Plain, Recall, Visit, search};
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request};

/// Searches depth-first, with no memory of what is not on the current run.
pub fn stateless<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let memory = Memory::new(request.limits.memory);
    let watch = Watch::new(&request.limits, progress);
    search(system, scratch, request, watch, (OnRun::default(), &mut Plain), memory).0
}

/// The keys of the current run.
#[derive(Default)]
struct OnRun(HashSet<Box<[u8]>>);

impl Recall for OnRun {
    const FORGETS: bool = true;

    fn prepare(&mut self, _: &[u8]) -> Result<u64, Limit> {
        Ok(0)
    }

    fn knows(&mut self, key: &[u8], _: u64, _: u32) -> Result<bool, Limit> {
        Ok(self.0.contains(key))
    }

    fn enter(&mut self, key: &[u8], _: u32, memory: &Memory) -> Result<Visit, Limit> {
        if self.0.contains(key) {
            return Ok(Visit::No);
        }
        memory.take(cost(key))?;
        Ok(Visit::once(self.0.insert(key.into())))
    }

    fn leave(&mut self, key: &[u8], memory: &Memory) {
        self.0.remove(key);
        memory.give_back(cost(key));
    }
}

/// What a key costs at most: itself, and its share of a set that may just have doubled.
fn cost(key: &[u8]) -> u64 {
    (key.len() + 3 * size_of::<Box<[u8]>>() + 32) as u64
}
