//! A sweep through all states, and where something is wrong a search for a run to it.
//!
//! *Idea*: most checks find nothing, and then the fastest search is the best, in whatever order
//! (`all_states.rs`). If one error is enough, others look for it now and then while the sweep waits, by turns, the longer the
//! more states there turn out to be (`scouts.rs`, `dive.rs`): an error that is easy to find need not wait until a sweep comes by.
//!
//! Whoever meets an error has decided that there is one. When the sweep comes by one depends on the threads, so the run is
//! looked for anew, in an order that does not: a breadth-first search (`nearest.rs`, or where that cannot be
//! [`bfs`](crate::bfs)) visits some states, for a shortest run; then whoever takes turns beside a sweep has those until a sweep
//! would have many more; then another sweep, which remembers its way (`retrace.rs`), visits as many states as the first; and
//! all of them begin again with more. So a run that was found beside the sweep is held against a breadth-first search that
//! takes a part of the time spent, or a moment; none costs much more than the best one alone, and the answer depends on no
//! clock. If the run is too long to be read, a breadth-first search goes on some way.
//!
//! *Cost*: without errors that of the sweep, and of looking in other ways at a tenth as many states; with errors that of the
//! sweep, and some four times that of the search that finds a run first.

mod all_states;
mod dive;
mod form;
mod known;
mod lessons;
mod nearest;
mod remembered;
mod retrace;
mod scouts;
#[cfg(test)]
mod toy;
mod walks;

use std::time::{Duration, Instant};

use spinward_machine::System;
use spinward_machine::system::length;
use spinward_store::{Parts, trim};

use crate::bfs::bfs;
use crate::dfs::dfs;
use crate::limits::{Limit, Limits, Memory};
use crate::outcome::{Counts, Found, Keep, Outcome, Place, Progress, Request, Stopped};
use all_states::Swept;
use form::{Folded, Packed};
use retrace::retrace;
use scouts::Scouts;
pub use scouts::{Guides, Scout};
pub(crate) use walks::walk;

/// States that a search for a run visits at first, and how many times as many the next time. For several errors all the
/// runs are wanted, however long they are.
const FIRST_STATES: u64 = 1 << 16;
const FIRST_OF_SEVERAL: u64 = 1 << 20;
const MORE: u64 = 4;

/// Which search comes when, each with as many states; a depth-first search only if it has no turns beside the sweep.
const ROUND: [Answered; 4] =
    [Answered::BreadthFirst, Answered::Scouted, Answered::Retraced, Answered::DepthFirst];

/// Those who look beside a sweep have the turns that there are until it has so many times as many states. A breadth-first search
/// takes up to half again as long as a sweep for a state, and all that were done until then had a third as many as the last.
/// So these come to a tenth to two fifths of the time until then.
const SWEPT: u64 = 16;

/// A longer run is not one to be read. So a breadth-first search goes on as far as it would in the next round, or until it has so many
/// times as many states as a sweep had when the run was met.
const LONG: usize = 1_000;
const LONGER: u64 = 2;

/// Time to find a run to an error that was met, though time is over: so long, or so many times as long as it took to meet it, but
/// no longer than that.
const GRACE: Duration = Duration::from_secs(1);
const AGAIN: u32 = 5;
const MOST_GRACE: Duration = Duration::from_secs(5);

/// Which search gave the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The sweep: there are no errors, or no run to one was found.
    Sweep,
    /// A breadth-first search.
    BreadthFirst,
    /// A depth-first search.
    DepthFirst,
    /// Another sweep, which remembered its way.
    Retraced,
    /// One of the ways in which errors are looked for while a sweep waits.
    Scouted,
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which search gave it.
    pub answered: Answered,
    /// Who met the error while the sweep waited; if nobody did, the sweep came by it.
    pub met_by: Option<Scout>,
    /// Who found the run, if that was one of those who look beside a sweep.
    pub found_by: Option<Scout>,
    /// After what time it was certain that something is wrong, if runs were looked for afterwards.
    pub met: Option<Duration>,
}

impl From<Answered> for Told {
    fn from(answered: Answered) -> Self {
        Self { answered, met_by: None, found_by: None, met: None }
    }
}

/// Sweeps, then looks for runs to the errors there are.
///
/// If states have parts beside their key, which depend on the order, the search is breadth-first. `whole`
/// is the system with all moves and states, if the other one leaves some out that make no difference:
/// shortest runs are looked for there. With `guides` errors are looked for also where they say.
pub fn sweep<S: System, W: System>(
    system: &S,
    whole: &W,
    guides: Option<Guides<'_>>,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Told) {
    let begun = Instant::now();
    let mut initial = Vec::new();
    system.initial(&mut initial);
    if system.key(&initial).len() < initial.len() {
        return (bfs(system, scratch, request, progress), Answered::BreadthFirst.into());
    }
    let mut scouts = guides.filter(|_| request.errors == 1).map(|it| Scouts::new(system, it));
    let mut take_turn = scouts.as_mut().map(|scouts| {
        |scratch: &mut S::Scratch, seen: u64, memory: &Memory| {
            let request = &request.later(begun.elapsed());
            scouts.take_turn(scratch, request, seen, memory, &mut |_| {});
            let error = scouts.found()?.1.errors.first()?;
            Some((Place::of(error.violation), error.occurrences))
        }
    });
    let probe = take_turn.as_mut().map(|it| it as &mut all_states::Probe<'_, S::Scratch>);
    let memory = Memory::new(request.limits.memory);
    let mut swept = match request.keep {
        Keep::Exact => {
            let form = || Packed::new(system);
            all_states::sweep(system, form, memory, scratch, request, probe, progress)
        }
        Keep::Tree => match Parts::new(memory.budget()) {
            Ok(parts) => {
                let form = || Folded::new(&parts);
                all_states::sweep(system, form, memory, scratch, request, probe, progress)
            }
            Err(full) => return (Outcome::without_room(full.into()), Answered::Sweep.into()),
        },
    };
    // What searches before have left with the allocator counts, too.
    let memory = request.limits.memory.map(|bytes| bytes / 16 * 15);
    let request =
        &Request { limits: Limits { memory, ..request.limits.clone() }, ..request.clone() };
    if swept.errors.is_empty()
        && swept.outcome.stopped == Some(Stopped::Limit(Limit::Memory))
        && let Some(scouts) = &mut scouts
    {
        // With the memory of the sweep others may come to an error.
        trim();
        scouts.leave_sweep();
        scouts.go_on_to_the_end(scratch, &request.later(begun.elapsed()), progress);
        let found = scouts.found().and_then(|(_, outcome)| outcome.errors.first());
        swept.errors.extend(found.map(|it| (Place::of(it.violation), it.occurrences)));
    }
    if swept.errors.is_empty() {
        return (swept.outcome, Answered::Sweep.into());
    }
    let met = begun.elapsed();
    let met_by = scouts.as_ref().and_then(Scouts::found).map(|&(who, _)| who);
    if let Some(scouts) = &mut scouts {
        scouts.leave_sweep();
    }
    let progress = &mut |event: &Progress| progress(&Progress { met: Some(met), ..*event });
    let counts_errors = request.errors == 0;
    // What is left out is left to the system.
    let mut request = Request { reduces: false, ..request.clone() };
    let one = request.errors == 1;
    let mut states = if one { FIRST_STATES } else { FIRST_OF_SEVERAL };
    if swept.outcome.is_complete() {
        request.errors = swept.errors.len().min(Outcome::MAX_ERRORS);
        // As many as there are could be borne before.
        states = states.max(swept.outcome.counts.states);
    }
    let time = request.limits.time;
    let mut whole_scratch = whole.scratch();
    let mut runs = Vec::new();
    let mut best: Option<(Outcome, Answered)> = None;
    let mut limit = None;
    // Those for which there is too little memory: with more states it is no better.
    let mut too_large = Vec::new();
    'searches: loop {
        let mut larger = false;
        for answered in ROUND {
            if too_large.contains(&answered) {
                continue;
            }
            // What the search before has freed shall not count beside this one.
            trim();
            // A shortest run is what was asked for, however long it takes.
            let bounded = !request.shortest || answered != Answered::BreadthFirst;
            request.limits.max_states = bounded.then_some(states);
            // Who has a run already needs no more time than there is.
            let grace = match scouts.as_ref().and_then(Scouts::known) {
                Some(_) => Duration::ZERO,
                None => GRACE.max(AGAIN * met).min(MOST_GRACE),
            };
            let end = time.map(|time| time.max(met + grace));
            request.limits.time = end.map(|end| end.saturating_sub(begun.elapsed()));
            let outcome = match answered {
                Answered::BreadthFirst => {
                    breadth_first(whole, &mut whole_scratch, &request, progress)
                }
                Answered::Scouted => {
                    let swept = states.saturating_mul(SWEPT);
                    // Who met an error late waits until the others have looked as far: without the sweep, too, it
                    // would be found by whoever comes first in this order.
                    let Some(scouts) = &mut scouts else { continue };
                    scouts.go_on(scratch, &request, swept, progress);
                    match scouts.found_until(swept) {
                        Some((_, outcome)) => outcome.clone(),
                        None => continue,
                    }
                }
                Answered::Retraced if one => retrace(system, scratch, &request, progress),
                // Beside a sweep it had its turns.
                Answered::DepthFirst if scouts.is_none() => {
                    dfs(system, scratch, &request, progress)
                }
                _ => continue,
            };
            runs.extend(outcome.errors.iter().cloned());
            if outcome.errors.len() > best.as_ref().map_or(0, |(best, _)| best.errors.len()) {
                best = Some((outcome.clone(), answered));
            }
            match outcome.stopped {
                Some(Stopped::Limit(Limit::States)) => larger = true,
                Some(Stopped::Limit(Limit::Memory)) => {
                    limit = Some(Limit::Memory);
                    too_large.push(answered);
                }
                Some(Stopped::Limit(other)) => {
                    limit = Some(other);
                    break 'searches;
                }
                Some(Stopped::Errors | Stopped::LeftOut(_)) | None => break 'searches,
            }
        }
        if !larger {
            break;
        }
        states = states.saturating_mul(MORE);
    }
    let is_long = |found: &Found| length(&found.steps) > LONG;
    if one
        && limit.is_none()
        && best.as_ref().is_some_and(|(outcome, _)| outcome.errors.iter().any(is_long))
    {
        trim();
        let answered = best.as_ref().map(|&(_, answered)| answered);
        let met_at = scouts.as_ref().filter(|_| answered == Some(Answered::Scouted));
        let swept = met_at.map_or(0, |scouts| LONGER.saturating_mul(scouts.seen()));
        request.limits.max_states = Some(states.saturating_mul(MORE).max(swept));
        request.limits.time = time.map(|time| time.saturating_sub(begun.elapsed()));
        let nearer = breadth_first(whole, &mut whole_scratch, &request, progress);
        if !nearer.errors.is_empty() {
            best = Some((nearer, Answered::BreadthFirst));
        }
    }
    if best.is_none() {
        let known = scouts.as_ref().and_then(Scouts::known);
        best = known.map(|(_, outcome)| (outcome.clone(), Answered::Scouted));
    }
    if best.is_none() && limit.is_some() {
        // What was met shall not be lost, if only it can be found soon.
        request.limits.max_states = None;
        request.errors = 1;
        let nearest = limit == Some(Limit::Interrupt);
        request.limits.time = Some(if nearest { GRACE / 2 } else { GRACE });
        let search = || {
            // If time is over, a breadth-first search had as much already.
            let near =
                nearest.then(|| breadth_first(whole, &mut whole_scratch, &request, progress));
            match near.filter(|outcome| !outcome.errors.is_empty()) {
                Some(outcome) => (outcome, Answered::BreadthFirst),
                None => {
                    trim();
                    (retrace(system, scratch, &request, progress), Answered::Retraced)
                }
            }
        };
        let found = request.limits.undisturbed(search);
        best = Some(found).filter(|(outcome, _)| !outcome.errors.is_empty());
    }
    let (outcome, answered) = match best {
        Some((mut outcome, answered)) => {
            outcome.take_shorter(&runs);
            (swept.with_runs(outcome, counts_errors), answered)
        }
        None => (swept.without_run(limit), Answered::Sweep),
    };
    let found_by = scouts.as_ref().and_then(Scouts::known).map(|&(who, _)| who);
    let found_by = found_by.filter(|_| answered == Answered::Scouted);
    (outcome, Told { answered, met_by, found_by, met: Some(met) })
}

/// A breadth-first search, the fastest one that can do what is asked for.
fn breadth_first<W: System>(
    whole: &W,
    scratch: &mut W::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    if nearest::suits(whole, request) {
        nearest::nearest(whole, scratch, request, progress)
    } else {
        bfs(whole, scratch, request, progress)
    }
}

impl Outcome {
    /// Takes the shortest runs that are known. That the search was bounded is nobody's concern.
    fn take_shorter(&mut self, runs: &[Found]) {
        for error in &mut self.errors {
            let place = Place::of(error.violation);
            let same = runs.iter().filter(|run| Place::of(run.violation) == place);
            if let Some(run) = same.min_by_key(|run| run.steps.len())
                && run.steps.len() < error.steps.len()
            {
                let occurrences = error.occurrences;
                *error = Found { occurrences, ..run.clone() };
            }
        }
        if self.stopped == Some(Stopped::Limit(Limit::States)) {
            self.stopped = Some(Stopped::Errors);
        }
    }
}

impl Swept {
    /// What a search for runs found; with the counts of the sweep if that was to see everything and a limit
    /// ended it, or if it did and each error has a run.
    fn with_runs(self, found: Outcome, counts_errors: bool) -> Outcome {
        let expected = self.errors.len().min(Outcome::MAX_ERRORS);
        let told = match self.outcome.stopped {
            Some(Stopped::Limit(_)) => counts_errors,
            _ => self.outcome.is_complete() && found.errors.len() >= expected,
        };
        let Outcome { mut errors, counts, .. } = found;
        let memory = counts.memory.max(self.outcome.counts.memory);
        if !told {
            return Outcome { errors, counts: Counts { memory, ..counts }, ..found };
        }
        for error in &mut errors {
            let place = Place::of(error.violation);
            let tally = self.errors.iter().find(|(known, _)| *known == place);
            error.occurrences = tally.map_or(error.occurrences, |&(_, occurrences)| occurrences);
        }
        let counts = Counts { memory, depth: counts.depth, ..self.outcome.counts };
        Outcome { errors, counts, ..self.outcome }
    }

    /// That there are errors is known, but no run to one.
    fn without_run(self, limit: Option<Limit>) -> Outcome {
        let met = self.errors.iter().map(|(_, occurrences)| occurrences).sum();
        let stopped = limit.map(Stopped::Limit).or(self.outcome.stopped);
        Outcome { met, stopped, ..self.outcome }
    }
}
