//! A sweep through all states, and where something is wrong a breadth-first search.
//!
//! *Idea*: most checks find nothing, and then the fastest search is the best, in whatever
//! [order](all_states). If something is wrong, people want a short run to it, which a [breadth-first
//! search](crate::bfs) finds. If all errors are asked for, the sweep tells how many there are to find,
//! and nothing is looked at that is farther away than they are.
//!
//! *Cost*: without errors that of the sweep; with errors at most that of both.

mod all_states;
mod form;

use std::time::{Duration, Instant};

use spinward_machine::System;
use spinward_store::Parts;

use crate::bfs::bfs;
use crate::limits::Memory;
use crate::outcome::{Counts, Keep, Outcome, Place, Progress, Request, Stopped};
use form::Plain;

/// Sweeps, then looks for shortest runs to the errors there are; says whether the sweep was enough.
///
/// If states have parts beside their key, which depend on the order, the search is breadth-first.
pub fn sweep<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, bool) {
    let begun = Instant::now();
    let mut initial = Vec::new();
    system.initial(&mut initial);
    if system.key(&initial).len() < initial.len() {
        return (bfs(system, scratch, request, progress), false);
    }
    let memory = Memory::new(request.limits.memory);
    let swept = match request.keep {
        Keep::Exact => all_states::sweep(system, &Plain, memory, scratch, request, progress),
        Keep::Tree => match Parts::new(memory.budget()) {
            Ok(parts) => all_states::sweep(system, &parts, memory, scratch, request, progress),
            Err(full) => return (Outcome::without_room(full.into()), true),
        },
    };
    if swept.errors.is_empty() {
        return (swept.outcome, true);
    }
    let mut request = request.clone();
    let left = |time: Duration| time.saturating_sub(begun.elapsed());
    request.limits.time = request.limits.time.map(left);
    if !swept.outcome.is_complete() {
        return (bfs(system, scratch, &request, progress), false);
    }
    let expected = swept.errors.len().min(Outcome::MAX_ERRORS);
    request.errors = expected;
    let found = bfs(system, scratch, &request, progress);
    if found.errors.len() < expected || matches!(found.stopped, Some(Stopped::Limit(_))) {
        return (found, false);
    }
    let Outcome { mut errors, counts, .. } = found;
    for error in &mut errors {
        let place = Place::of(error.violation);
        let tally = swept.errors.iter().find(|(known, _)| *known == place);
        error.occurrences = tally.map_or(error.occurrences, |&(_, occurrences)| occurrences);
    }
    let memory = counts.memory.max(swept.outcome.counts.memory);
    let counts = Counts { memory, depth: counts.depth, ..swept.outcome.counts };
    (Outcome { errors, counts, ..swept.outcome }, false)
}
