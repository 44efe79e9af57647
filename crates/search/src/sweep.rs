//! A sweep through all states, and where something is wrong a search for a run to it.
//!
//! *Idea*: most checks find nothing, and then the fastest search is the best, in whatever order
//! (`all_states.rs`). If something is wrong, people want a short run to it, which a breadth-first
//! search finds (`nearest.rs`, or where that cannot be [`bfs`](crate::bfs)), unless there are too
//! many states nearer than the error: then another sweep, which remembers its way (`retrace.rs`),
//! or a [depth-first search](crate::dfs) may find a longer run soon. All are tried in turn, each
//! with ten times as many states as the time before; so none costs much more than the best one
//! alone, and the answer depends on no clock. What a depth-first search finds may be too long to be read,
//! so a breadth-first search may then visit as many states as all of them together.
//!
//! If one error is enough, others look for it now and then while the sweep waits, by turns, the longer the more states
//! there turn out to be (`scouts.rs`): an error that is easy to find need not wait until a sweep comes by. When the sweep comes by
//! one depends on the threads, so whoever met it first has decided that there is one, but the run to it is looked for anew.
//!
//! *Cost*: without errors that of the sweep, and of looking in other ways at a tenth as many states; with errors that of the
//! sweep and some three times that of the search that finds a run first.

mod all_states;
mod form;
mod known;
mod lessons;
mod nearest;
mod remembered;
mod retrace;
mod scouts;
mod walks;

use std::time::{Duration, Instant};

use spinward_machine::System;
use spinward_store::{Parts, trim};

use crate::bfs::bfs;
use crate::dfs::dfs;
use crate::limits::{Limit, Memory};
use crate::outcome::{Counts, Found, Keep, Outcome, Place, Progress, Request, Stopped};
use all_states::Swept;
use form::{Folded, Packed};
use retrace::retrace;
use scouts::Scouts;
pub use scouts::{Guides, MetBy};
pub(crate) use walks::walk;

/// States that a search for a run visits at first, and how many times as many the next time.
const FIRST_STATES: u64 = 1_000_000;
const MORE: u64 = 10;

/// Which search comes when, and how many times as many states it visits. The last one only betters the run of the one
/// before; by then the sweep, which met the error no sooner than `Retraced`, and three more have visited about as many.
const ROUND: [(Answered, u64); 5] = [
    (Answered::BreadthFirst, 1),
    (Answered::Scouted, 1),
    (Answered::Retraced, 1),
    (Answered::DepthFirst, 1),
    (Answered::BreadthFirst, 4),
];

/// Time to find a run to an error that was met, though time is over.
const GRACE: Duration = Duration::from_secs(1);

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
    /// A short look in one of the ways in which errors are looked for while a sweep waits.
    Scouted,
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which search gave it.
    pub answered: Answered,
    /// Who met the error first.
    pub met_by: MetBy,
    /// After what time it was certain that something is wrong, if runs were looked for afterwards.
    pub met: Option<Duration>,
}

impl From<Answered> for Told {
    fn from(answered: Answered) -> Self {
        Self { answered, met_by: MetBy::Sweep, met: None }
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
    let mut first: Option<(MetBy, Outcome)> = None;
    let mut take_turn = scouts.as_mut().map(|scouts| {
        |scratch: &mut S::Scratch, seen: u64, free: u64| {
            let request = &request.later(begun.elapsed());
            let (by, outcome) = scouts.take_turn(scratch, request, seen, free)?;
            let error = outcome.errors.first()?;
            let error = (Place::of(error.violation), error.occurrences);
            first = Some((by, outcome));
            Some(error)
        }
    });
    let probe = take_turn.as_mut().map(|it| it as &mut all_states::Probe<'_, S::Scratch>);
    let memory = Memory::new(request.limits.memory);
    let swept = match request.keep {
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
    if swept.errors.is_empty() {
        return (swept.outcome, Answered::Sweep.into());
    }
    let met = begun.elapsed();
    let progress = &mut |event: &Progress| progress(&Progress { met: Some(met), ..*event });
    let counts_errors = request.errors == 0;
    // What is left out is left to the system.
    let mut request = Request { reduces: false, ..request.clone() };
    let mut states = FIRST_STATES;
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
    'searches: loop {
        let mut larger = false;
        for (answered, times) in ROUND {
            let betters = times > 1;
            if matches!(answered, Answered::Scouted | Answered::Retraced) && request.errors != 1
                || betters && (best.is_none() || request.errors != 1)
            {
                continue;
            }
            if answered == Answered::Scouted {
                // They look at as many states each time.
                if let Some(scouts) = scouts.take()
                    && let Some(outcome) = scouts.look(scratch, &request)
                {
                    best = Some((outcome, answered));
                    break 'searches;
                }
                continue;
            }
            // What the search before has freed shall not count beside this one.
            trim();
            // A shortest run is what was asked for, however long it takes.
            let bounded = !request.shortest || answered != Answered::BreadthFirst;
            request.limits.max_states = bounded.then_some(states.saturating_mul(times));
            request.limits.time = time.map(|time| time.saturating_sub(begun.elapsed()).max(GRACE));
            let outcome = match answered {
                Answered::BreadthFirst if nearest::suits(whole, &request) => {
                    nearest::nearest(whole, &mut whole_scratch, &request, progress)
                }
                Answered::BreadthFirst => bfs(whole, &mut whole_scratch, &request, progress),
                Answered::Retraced => retrace(system, scratch, &request, progress),
                _ => dfs(system, scratch, &request, progress),
            };
            let found = outcome.errors.len();
            runs.extend(outcome.errors.iter().cloned());
            if found > best.as_ref().map_or(0, |(best, _)| best.errors.len())
                || betters && found > 0
            {
                best = Some((outcome.clone(), answered));
            }
            match outcome.stopped {
                _ if betters => break 'searches,
                Some(Stopped::Errors)
                    if answered == Answered::DepthFirst
                        && request.errors == 1
                        && limit.is_none() => {}
                Some(Stopped::Limit(Limit::States)) => larger = true,
                Some(Stopped::Limit(Limit::Memory)) => limit = Some(Limit::Memory),
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
    if best.is_none() && limit.is_some() {
        // What was met shall not be lost, if only it can be found soon.
        request.limits.max_states = None;
        request.limits.time = Some(GRACE);
        request.errors = 1;
        let search = || retrace(system, scratch, &request, progress);
        let outcome = request.limits.undisturbed(search);
        best = (!outcome.errors.is_empty()).then_some((outcome, Answered::Retraced));
    }
    let met_by = first.as_ref().map_or(MetBy::Sweep, |&(by, _)| by);
    if best.is_none()
        && let Some((_, outcome)) = first
    {
        best = Some((outcome, Answered::Scouted));
    }
    let (outcome, answered) = match best {
        Some((mut outcome, answered)) => {
            outcome.take_shorter(&runs);
            (swept.with_runs(outcome, counts_errors), answered)
        }
        None => (swept.without_run(limit), Answered::Sweep),
    };
    (outcome, Told { answered, met_by, met: Some(met) })
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
        if !told {
            return found;
        }
        let Outcome { mut errors, counts, .. } = found;
        for error in &mut errors {
            let place = Place::of(error.violation);
            let tally = self.errors.iter().find(|(known, _)| *known == place);
            error.occurrences = tally.map_or(error.occurrences, |&(_, occurrences)| occurrences);
        }
        let memory = counts.memory.max(self.outcome.counts.memory);
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
