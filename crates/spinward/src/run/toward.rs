//! Trail-directed search: shorter runs to an error of which one is known.
//!
//! *Idea* (Edelkamp, Lluch Lafuente and Leue, *Trail-directed model checking*, 2001; section 10 of their *Directed
//! explicit-state model checking in the validation of communication protocols*, 2004): the last state of the run is
//! something to go towards, by the bytes or by the places of processes that differ from it. Only runs that are shorter
//! than the one that is known are looked at, and each that is found lowers the bound.
//!
//! What is looked for is the same error, not only the same state. So a third search goes by what can be said for
//! sure of the error: the first run that it finds is a shortest one. The three take turns, each time with ten times
//! as many states, until one of them knows that no run is shorter, or a limit is hit.
//!
//! *Cost*: as much as is allowed, of the system with all moves and states.

use std::sync::Arc;
use std::time::Instant;

use spinward_guide::{Patience, Subject, Target};
use spinward_machine::system::length;
use spinward_machine::{Machine, System as _, Violation};
use spinward_search::aimed::Aimed;
use spinward_search::bfs::bfs;
use spinward_search::directed::Directed;
use spinward_search::directed::best_first::{Rank, best_first};
use spinward_search::{Found, Limit, Limits, Outcome, Place, Progress, Request, Stopped};
use spinward_store::trim;
use spinward_trail::replay;

use super::Running;
use super::directed::SURE;
use crate::options::{Guide, Search};
use crate::{Error, memory};

/// How the searches go towards the end of a run that is known.
const TOWARD: [&str; 2] = ["hamming", "fsm-sum=trail"];

/// States that each search visits at first, and how many times as many the next time.
const FIRST_STATES: u64 = 10_000;
const MORE: u64 = 10;

/// So many states are visited for a shorter run at least, and as many as this part of those that were needed for the
/// run. States, not time, so that the answer depends on no clock; one took 0.4 to 2 times as long as in the
/// searches before (bitstate, greedy, beam and depth-first, on philosophers, filter lock and telephones), so this is
/// about a fifth of their time at most.
const MIN_EFFORT: u64 = 3 * FIRST_STATES;
const PART: u64 = 10;

/// What came of looking for a shorter run.
pub(crate) struct Shortened {
    /// The shortest run that is known now.
    pub found: Found,
    /// What ended the searches, if it is not known whether there are shorter ones.
    pub limit: Option<Limit>,
    /// The most bytes in use at a time.
    pub memory: u64,
}

/// Looks for shorter runs to the error of a run that is known, and does not go round for ever.
pub(crate) fn shortened(
    machine: &Machine,
    mut found: Found,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Shortened, Error> {
    let begun = Instant::now();
    // What is not part of a state's key depends on the order, so that states seen before prove nothing.
    let sees_all = machine.program().hidden.bytes == 0;
    let mut left = request.limits.max_states.unwrap_or(u64::MAX);
    let mut states = FIRST_STATES;
    let (mut limit, mut memory) = (None, 0);
    while limit.is_none() {
        for guide in TOWARD.map(Some).into_iter().chain([None]) {
            let Some(bound) = length(&found.steps).checked_sub(1) else {
                found.shortest = true;
                return Ok(Shortened { found, limit: None, memory });
            };
            trim();
            let limits = Limits {
                max_depth: Some(bound as u64),
                max_states: Some(states.min(left)),
                time: request.limits.time.map(|time| time.saturating_sub(begun.elapsed())),
                ..request.limits.clone()
            };
            let (errors, shortest) = (1, true);
            let request =
                Request { limits, errors, shortest, reduces: false, threads: 1, ..*request };
            let outcome = match guide {
                Some(guide) => towards(machine, &found, guide, &request, progress)?,
                None => shortest_first(machine, &found, &request, progress)?,
            };
            memory = memory.max(outcome.counts.memory);
            left -= left.min(outcome.counts.states);
            let shorter = outcome.errors.into_iter().find(|it| length(&it.steps) <= bound);
            if let Some(shorter) = shorter {
                found = Found { occurrences: found.occurrences, shortest: false, ..shorter };
            }
            match outcome.stopped {
                None | Some(Stopped::Errors | Stopped::LeftOut(_)) => {
                    found.shortest = sees_all;
                    return Ok(Shortened { found, limit: None, memory });
                }
                Some(Stopped::Limit(Limit::States)) if left > 0 => {}
                // Another search may need less memory.
                Some(Stopped::Limit(Limit::Memory)) => limit = Some(Limit::Memory),
                Some(Stopped::Limit(other)) => {
                    return Ok(Shortened { found, limit: Some(other), memory });
                }
            }
        }
        states = states.saturating_mul(MORE);
    }
    Ok(Shortened { found, limit, memory })
}

/// Searches towards the last state of a run.
fn towards(
    machine: &Machine,
    known: &Found,
    guide: &str,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Outcome, Error> {
    let target = target(machine, known)?;
    let subject = Subject {
        machine,
        follower: None,
        target: Some(&target),
        symmetric: false,
        patience: Patience::default(),
    };
    let guide = guide.parse::<Guide>()?.build(&subject)?;
    let sure = SURE.parse::<Guide>()?.build(&subject)?;
    let bound = is_estimated(known.violation).then_some(&*sure);
    let directed = Directed { guide: &*guide, bound };
    let aimed = Aimed { system: machine, place: Place::of(known.violation) };
    let mut scratch = machine.scratch();
    Ok(best_first(&aimed, &mut scratch, request, Rank::Estimate, directed, progress).0)
}

/// Searches so that the first run found is a shortest one.
fn shortest_first(
    machine: &Machine,
    known: &Found,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Outcome, Error> {
    let aimed = Aimed { system: machine, place: Place::of(known.violation) };
    let mut scratch = machine.scratch();
    if !is_estimated(known.violation) {
        return Ok(bfs(&aimed, &mut scratch, request, progress));
    }
    let subject = Subject {
        machine,
        follower: None,
        target: None,
        symmetric: false,
        patience: Patience::default(),
    };
    let guide = SURE.parse::<Guide>()?.build(&subject)?;
    let directed = Directed { guide: &*guide, bound: None };
    let rank = Rank::Length(1.0);
    // It ends with the known run at the latest, and never looks at what ranks higher; with a bound on lengths it would
    // not come to that run, and look at everything within.
    let limits = Limits { max_depth: None, ..request.limits.clone() };
    let request = Request { limits, ..*request };
    Ok(best_first(&aimed, &mut scratch, &request, rank, directed, progress).0)
}

/// Whether guides know how far errors of a kind are.
fn is_estimated(violation: Violation) -> bool {
    matches!(
        violation,
        Violation::Assertion(_) | Violation::InvalidEndState | Violation::Invariant(_)
    )
}

/// The last state of a run, by a machine that nobody interrupts.
fn target(machine: &Machine, known: &Found) -> Result<Target, Error> {
    let (program, options) = (machine.program().clone(), machine.options().clone());
    let fresh = Machine::new(program, options, Arc::default())
        .map_err(|error| Error::Internal(error.describe()))?;
    let replayed = replay(&fresh, &known.steps, &mut |_| {}).map_err(|misfit| {
        Error::Internal(format!("the run to an error does not replay, {misfit}"))
    })?;
    Ok(Target::new(&fresh, replayed.last.state))
}

/// With what shorter runs than those of a search are looked for.
pub(super) struct Shortening<'a> {
    machine: &'a Machine,
    /// Bytes that may be used.
    budget: u64,
    /// States that may be visited for each run.
    effort: u64,
    progress: &'a mut dyn FnMut(&Progress),
}

impl Running<'_> {
    /// With what shorter runs than those that were found are looked for, if they are. A depth-first search that was asked
    /// for finds the runs that SPIN finds, and these are left as they are.
    pub(super) fn shortening<'m>(
        &self,
        machine: &'m Machine,
        budget: u64,
        outcome: &Outcome,
        progress: &'m mut dyn FnMut(&Progress),
    ) -> Option<Shortening<'m>> {
        if !self.check.shorten.unwrap_or(self.check.search != Search::Dfs) {
            return None;
        }
        let errors = outcome.errors.len().max(1) as u64;
        let effort = MIN_EFFORT.max(outcome.counts.states / PART) / errors;
        let effort = self.check.max_states.map_or(effort, |most| most.min(effort));
        Some(Shortening { machine, budget, effort, progress })
    }

    /// A shorter run than the one that was found, if that need not be a shortest one and such a run is found soon.
    pub(super) fn shorter(
        &mut self,
        found: Found,
        Shortening { machine, budget, effort, progress }: &mut Shortening<'_>,
    ) -> Result<Found, Error> {
        if found.shortest || found.cycle.is_some() {
            return Ok(found);
        }
        let mut request = self.request(memory::for_more(self.allowed, *budget));
        request.limits.max_states = Some(*effort);
        let Shortened { found, memory, .. } = shortened(machine, found, &request, progress)?;
        let peak = &mut self.statistics.peak_memory;
        *peak = (*peak).max(self.own + memory);
        Ok(found)
    }
}
