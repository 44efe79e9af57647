//! The usual way to answer: a sweep, and where something is wrong a breadth-first search.
//!
//! *Idea*: most runs of a checker find nothing, and then the fastest search is the best, in whatever
//! [order](crate::sweep). If something is wrong, people want a short run to it, which a
//! [breadth-first search](crate::bfs) finds; it looks at no more than what is as near as the error,
//! for the sweep has told how many errors there are to find.
//!
//! *Cost*: without errors that of the sweep. With errors at most that of both.

use spinward_machine::System;

use crate::bfs::bfs;
use crate::outcome::{Outcome, Place, Progress, Request, Stopped};
use crate::sweep::sweep;

/// Sweeps, then looks for shortest runs to the errors there are; says whether the sweep was enough.
pub fn auto<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, bool) {
    let begun = std::time::Instant::now();
    let swept = sweep(system, scratch, request, progress);
    if swept.errors.is_empty() {
        return (swept.outcome, true);
    }
    let mut request = request.clone();
    let left = |time: std::time::Duration| time.saturating_sub(begun.elapsed());
    request.limits.time = request.limits.time.map(left);
    let complete = swept.outcome.is_complete();
    if complete {
        request.errors = swept.errors.len();
    }
    let mut outcome = bfs(system, scratch, &request, progress);
    let found_all = outcome.errors.len() >= swept.errors.len().min(Outcome::MAX_ERRORS);
    if complete && found_all && !matches!(outcome.stopped, Some(Stopped::Limit(_))) {
        let memory = outcome.counts.memory.max(swept.outcome.counts.memory);
        let depth = outcome.counts.depth;
        outcome.counts = crate::Counts { memory, depth, ..swept.outcome.counts };
        outcome.stopped = None;
        outcome.truncated = false;
        for found in &mut outcome.errors {
            let place = Place::of(found.violation);
            if let Some(&(_, occurrences)) = swept.errors.iter().find(|(it, _)| *it == place) {
                found.occurrences = occurrences;
            }
        }
    }
    (outcome, false)
}
