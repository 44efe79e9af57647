//! Many depth-first searches, each in an order of its own.
//!
//! Holzmann, Joshi and Groce, *Swarm verification*, 2008. Where not everything can be looked at, searches that
//! differ see more than one of the same cost. Each of these takes the successors of a state in another order, has
//! a table with other hash functions, and every other one a bound on the depth, smaller ones first. They know
//! nothing of each other, so that any number of threads can run them.
//!
//! *Invariant*: what a search finds depends on the seed and its number only, and the first one, by number, that
//! finds as many errors as are asked for decides. So the answer is the same for all numbers of threads, unless the
//! time ends it.
//!
//! *Cost*: each search may use the same share of the memory, and visit the same share of the states that may be
//! visited. States count as often as searches visit them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use spinward_machine::System;
use spinward_store::{Bitstate, Compact, Full, Lossy, Omissions, Table};

use super::chance::{Chance, Salted};
use crate::carrying::{Course, Event, search};
use crate::limits::{Limit, Limits, Memory, Watch};
use crate::lossy::InTable;
use crate::outcome::{Counts, Outcome, Place, Progress, Request, Stopped};

/// How many searches there are.
pub const SEARCHES: usize = 8;

/// Runs the searches by as many threads as are asked for, each with such a table; also tells how many states were
/// probably lost. No run is promised to be a shortest one.
pub fn swarm<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    seed: u64,
    table: Table,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Omissions) {
    let threads = request.threads.clamp(1, SEARCHES);
    let swarm = Swarm {
        system,
        request: share(request, threads),
        seed,
        table,
        next: AtomicUsize::new(0),
        decided: AtomicUsize::new(SEARCHES),
        answers: Mutex::new(vec![None; SEARCHES]),
    };
    // Ends all of them when the time is over, even within an expansion.
    let mut silent = |_: &Progress| {};
    let watch = Watch::new(&request.limits, &mut silent);
    std::thread::scope(|scope| {
        let others = (1..threads).filter_map(|_| {
            let work = || {
                let mut scratch = system.scratch();
                swarm.work(&mut scratch, &mut |_| {});
                scratch
            };
            // Who is there does the work of those who cannot be.
            std::thread::Builder::new().spawn_scoped(scope, work).ok()
        });
        let others: Vec<_> = others.collect();
        swarm.work(scratch, progress);
        for other in others {
            match other.join() {
                Ok(other) => system.absorb(scratch, other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    let is_late = watch.clock().check() == Err(Limit::Time);
    drop(watch);
    let (mut outcome, omissions) = swarm.finish(threads as u64);
    if is_late && outcome.stopped == Some(Stopped::Limit(Limit::Interrupt)) {
        outcome.stopped = Some(Stopped::Limit(Limit::Time));
    }
    (outcome, omissions)
}

/// What each search may use.
fn share(request: &Request, threads: usize) -> Request {
    let turns = SEARCHES.div_ceil(threads) as u32;
    let limits = Limits {
        memory: request.limits.memory.map(|bytes| bytes / SEARCHES as u64),
        time: request.limits.time.map(|time: Duration| time / turns),
        ..request.limits.clone()
    };
    Request { limits, shortest: false, ..request.clone() }
}

/// What a search found, and what it probably lost.
type Answer = (Outcome, Omissions);

struct Swarm<'a, S> {
    system: &'a S,
    /// That of each search.
    request: Request,
    seed: u64,
    table: Table,
    /// The next search.
    next: AtomicUsize,
    /// The first one that found as many errors as are asked for.
    decided: AtomicUsize,
    answers: Mutex<Vec<Option<Answer>>>,
}

impl<S: System> Swarm<'_, S> {
    /// Runs searches until there are no more.
    fn work(&self, scratch: &mut S::Scratch, progress: &mut dyn FnMut(&Progress)) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= SEARCHES || number > self.decided.load(Ordering::Relaxed) {
                return;
            }
            let result = self.search(number, scratch, progress);
            if result.0.stopped == Some(Stopped::Errors) {
                self.decided.fetch_min(number, Ordering::Relaxed);
            }
            let mut results = self.answers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            results[number] = Some(result);
        }
    }

    fn search(
        &self,
        number: usize,
        scratch: &mut S::Scratch,
        progress: &mut dyn FnMut(&Progress),
    ) -> Answer {
        let memory = Memory::new(self.request.limits.memory);
        let budget = memory.budget().clone();
        let result = match self.table {
            Table::Bitstate { bytes, hashes } => Bitstate::new(bytes, hashes, &budget)
                .map(|table| self.search_with(table, memory, number, scratch, progress)),
            Table::Compact { bytes, bits } => Compact::new(bytes, bits, &budget)
                .map(|table| self.search_with(table, memory, number, scratch, progress)),
        };
        let without_room = |full: Full| (Outcome::without_room(full.into()), Omissions::default());
        result.unwrap_or_else(without_room)
    }

    fn search_with<T: Lossy>(
        &self,
        table: T,
        memory: Memory,
        number: usize,
        scratch: &mut S::Scratch,
        progress: &mut dyn FnMut(&Progress),
    ) -> Answer {
        let mut chance = Chance::new(self.seed, number as u64);
        let recall = InTable::new(Salted::new(table, chance.next()));
        let mut course = Shuffled { chance, number, decided: &self.decided };
        let max_depth = [self.request.limits.max_depth, depth(number)].into_iter().flatten().min();
        let max_states = self.request.limits.max_states.map(|all| part(all, number));
        let limits = Limits { max_depth, max_states, ..self.request.limits.clone() };
        let request = &Request { limits, ..self.request.clone() };
        let watch = Watch::without_alarm(&request.limits, progress);
        let with = (recall, &mut course);
        let (outcome, recall) = search(self.system, scratch, request, watch, with, memory);
        (outcome, recall.table.omissions())
    }

    /// Puts together what all searches found up to the one that decided, as if they had run one after the other.
    fn finish(self, threads: u64) -> Answer {
        let decided = self.decided.into_inner();
        let results = self.answers.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let results: Vec<Answer> = results.into_iter().take(decided + 1).flatten().collect();
        let seen_all = results.iter().filter(|it| it.0.is_complete());
        let best = seen_all.min_by(|one, other| one.1.expected.total_cmp(&other.1.expected));
        let (stopped, truncated, omissions) = match (best, results.last(), results.first()) {
            (_, Some(last), _) if decided < SEARCHES => (Some(Stopped::Errors), false, last.1),
            (Some(best), ..) => (None, false, best.1),
            (None, _, Some(first)) => (first.0.stopped, first.0.truncated, first.1),
            (None, _, None) => {
                (Some(Stopped::Limit(Limit::Interrupt)), false, Omissions::default())
            }
        };
        let mut all =
            Outcome { errors: Vec::new(), met: 0, counts: Counts::default(), stopped, truncated };
        results.into_iter().for_each(|(outcome, _)| all.add(outcome));
        all.counts.memory *= threads;
        if self.request.errors > 0 {
            all.errors.truncate(self.request.errors);
        }
        (all, omissions)
    }
}

impl Outcome {
    /// Adds what another search found.
    fn add(&mut self, other: Self) {
        let (all, more) = (&mut self.counts, other.counts);
        all.states += more.states;
        all.transitions += more.transitions;
        all.expanded += more.expanded;
        all.errors += more.errors;
        all.depth = all.depth.max(more.depth);
        all.state_bytes = all.state_bytes.max(more.state_bytes);
        all.memory = all.memory.max(more.memory);
        for error in other.errors {
            let place = Place::of(error.violation);
            match self.errors.iter_mut().find(|it| Place::of(it.violation) == place) {
                Some(known) => known.occurrences += error.occurrences,
                None => self.errors.push(error),
            }
        }
    }
}

/// How many states a search may visit of those that all may visit together. Who comes first gets what is left over.
fn part(all: u64, number: usize) -> u64 {
    let searches = SEARCHES as u64;
    all / searches + u64::from((number as u64) < all % searches)
}

/// How deep a search goes: every other one 100 steps, 1,000, and so on.
fn depth(number: usize) -> Option<u64> {
    (number % 2 == 1).then(|| 10_u64.pow(2 + number as u32 / 2))
}

/// Successors in any order.
struct Shuffled<'a> {
    chance: Chance,
    number: usize,
    decided: &'a AtomicUsize,
}

impl Course for Shuffled<'_> {
    const IN_ORDER: bool = false;

    fn go_on(&self) -> Result<(), Limit> {
        let is_late = self.decided.load(Ordering::Relaxed) < self.number;
        if is_late { Err(Limit::Interrupt) } else { Ok(()) }
    }

    fn arrange(&mut self, events: &mut [Event]) {
        self.chance.shuffle(events);
    }
}
