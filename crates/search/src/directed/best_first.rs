//! Best-first search: A*, weighted A* and greedy search.
//!
//! Edelkamp, Lluch Lafuente and Leue, *Directed explicit-state model checking in the validation of communication
//! protocols*, 2004, sections 3.1 and 3.2. Of all states that wait the one of the lowest rank is expanded. In A*
//! (Hart, Nilsson and Raphael 1968) the rank is the length of the run so far and the estimate of what is to come;
//! with a weight the estimate counts more, which is faster and finds runs at most so many times as long as the
//! shortest; in greedy search the estimate is all. Runs are as long as the user sees them: an atomic sequence is
//! one edge of many steps.
//!
//! What is wrong shows while a state is expanded. It ends the search if it is not longer than the lowest rank of
//! those that wait, so that with an admissible guide no shorter run can come; in greedy search at once.
//!
//! *Shortest runs with any guide* (Jabbar and Edelkamp, *I/O efficient directed model checking*, 2005, section
//! 4.4): the first error gives a bound on the length, each better one lowers it, and the search goes on with
//! shorter runs only until nothing waits.
//!
//! *Invariant*: if the guide is consistent, a state that A* expands was reached by a shortest run, so it is
//! expanded once. Otherwise it is expanded again when a shorter run to it is found, unless lengths do not matter
//! (greedy search).
//!
//! *Reduction*: moves may be left out as [`Reduced`](crate::reduced::Reduced) does, which depends on the state
//! alone and on no order. So nothing is missed, but runs may be longer than need be, and shortest ones are looked
//! for in the whole system.
//!
//! *Cost*: besides its key, 16 bytes for each state (length, estimate, and where it was reached from) and 8 while
//! it waits.

use std::time::Instant;

use spinward_guide::{NEVER, Room, Unguided, Way};
use spinward_machine::{System, Violation, system::length};
use spinward_store::{Bytes, Flags, Full, Numbers, Store, Worker};

use super::fresh::{Expansion, Fresh};
use super::open::{Open, Waiting};
use super::{Directed, Range};
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, Memory, Watch, bound, longer};
use crate::outcome::{Counts, Found, Keep, Outcome, Progress, Request, Stopped};
use crate::rebuild::{Goal, Order, follow};
use crate::whole::look_again;

/// What makes a state better than others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rank {
    /// The length of the run so far and this many times the estimate of what is to come.
    Length(f64),
    /// The estimate.
    Estimate,
}

impl Rank {
    pub(super) fn of(self, length: u32, estimate: u32) -> u32 {
        match self {
            _ if estimate == NEVER => NEVER,
            Self::Estimate => estimate,
            Self::Length(1.0) => length.saturating_add(estimate).min(NEVER - 1),
            Self::Length(weight) => {
                let rank = f64::from(length) + weight * f64::from(estimate);
                (rank as u32).min(NEVER - 1)
            }
        }
    }
}

/// Searches the best states first; also tells the range of the estimates. If runs are to be shortest ones though
/// the guide does not see to that, it goes on until that is sure.
///
/// No guide knows of run-time errors. If A* comes across one, which may be anywhere, what is nearest is looked for
/// without a guide.
pub fn best_first<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    rank: Rank,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let begun = Instant::now();
    let (outcome, range) = once(system, scratch, request, rank, directed, progress);
    let is_unexpected = |error: &Found| matches!(error.violation, Violation::Runtime(..));
    if !is_sure(rank, directed) || !outcome.errors.iter().any(is_unexpected) {
        return (outcome, range);
    }
    let unguided = Directed { guide: &Unguided, bound: None };
    let outcome = look_again(outcome, request, begun, |request| {
        once(system, scratch, request, rank, unguided, progress).0
    });
    (outcome, range)
}

/// Whether the guide alone sees to it that runs are shortest ones.
fn is_sure(rank: Rank, directed: Directed<'_>) -> bool {
    rank == Rank::Length(1.0) && directed.guide.is_admissible()
}

fn once<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    rank: Rank,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let memory = Memory::new(request.limits.memory);
    let started = match request.keep {
        Keep::Exact => spinward_store::Exact::new(memory.budget())
            .map(|store| run(system, scratch, request, rank, directed, progress, store, memory)),
        Keep::Tree => spinward_store::Tree::new(memory.budget())
            .map(|store| run(system, scratch, request, rank, directed, progress, store, memory)),
    };
    let without_room = |full: Full| (Outcome::without_room(full.into()), Range::of(0));
    started.unwrap_or_else(without_room)
}

/// Searches a system that leaves out what makes no difference, and if something is wrong and runs are to be
/// shortest ones the whole of it too, as far as that is.
#[allow(clippy::too_many_arguments)]
pub fn best_first_of_less<S: System, W: System>(
    (system, directed): (&S, Directed<'_>),
    (whole, whole_directed): (&W, Directed<'_>),
    scratch: &mut S::Scratch,
    request: &Request,
    rank: Rank,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let begun = Instant::now();
    let (outcome, range) = best_first(system, scratch, request, rank, directed, progress);
    if !is_sure(rank, directed) && !request.shortest {
        return (outcome, range);
    }
    let outcome = look_again(outcome, request, begun, |request| {
        best_first(whole, &mut whole.scratch(), request, rank, whole_directed, progress).0
    });
    (outcome, range)
}

#[allow(clippy::too_many_arguments)]
fn run<S: System, T: Store>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    rank: Rank,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
    store: T,
    memory: Memory,
) -> (Outcome, Range) {
    let search = match BestFirst::new(system, request, rank, directed, store, memory) {
        Ok(search) => search,
        Err(full) => return (Outcome::without_room(full.into()), Range::of(0)),
    };
    search.run(scratch, progress)
}

struct BestFirst<'a, S, T> {
    system: &'a S,
    request: &'a Request,
    rank: Rank,
    directed: Directed<'a>,
    /// Whether the guide alone sees to it that runs are shortest ones.
    is_sure: bool,
    /// Whether the search goes on with shorter runs after an error.
    proves: bool,
    /// Whether a state is expanded again when a shorter run to it is found.
    reopens: bool,
    /// Longer runs are not looked at.
    bound: u32,
    memory: Memory,
    store: T,
    worker: Worker,
    room: Room,
    /// By state: the length of the shortest run known, and one; 0 if none is within the bound.
    lengths: Numbers,
    estimates: Numbers,
    /// By state: the one it was reached from, and which of its successors it is.
    parents: Numbers,
    successors: Numbers,
    closed: Flags,
    /// What is not part of a state's key, as the shortest run known leaves it.
    hidden: Bytes,
    open: Open,
    counts: Counts,
    range: Range,
    /// Whether an error was met beyond the bound.
    beyond: bool,
    /// The state at which each shows, and how many steps further.
    findings: Findings<(u32, u32)>,
    fresh: Fresh,
    key: Vec<u8>,
    state: Vec<u8>,
}

impl<'a, S: System, T: Store> BestFirst<'a, S, T> {
    fn new(
        system: &'a S,
        request: &'a Request,
        rank: Rank,
        directed: Directed<'a>,
        store: T,
        memory: Memory,
    ) -> Result<Self, Full> {
        let mut state = Vec::new();
        system.initial(&mut state);
        let hidden = state.len() - system.key(&state).len();
        let is_sure = is_sure(rank, directed);
        let proves = request.shortest && !is_sure && request.errors == 1;
        let by_length = rank != Rank::Estimate && !directed.guide.is_consistent();
        let budget = memory.budget();
        Ok(Self {
            system,
            request,
            rank,
            directed,
            is_sure,
            proves,
            reopens: by_length || proves || request.limits.max_depth.is_some(),
            bound: bound(&request.limits),
            store,
            worker: Worker::default(),
            room: Room::default(),
            lengths: Numbers::new(budget)?,
            estimates: Numbers::new(budget)?,
            parents: Numbers::new(budget)?,
            successors: Numbers::new(budget)?,
            closed: Flags::new(budget)?,
            hidden: Bytes::new(hidden, budget)?,
            open: Open::new(&memory),
            counts: Counts::default(),
            range: Range::of(0),
            beyond: false,
            findings: Findings::new(),
            fresh: Fresh::new(&memory),
            key: Vec::new(),
            state,
            memory,
        })
    }

    fn run(
        mut self,
        scratch: &mut S::Scratch,
        progress: &mut dyn FnMut(&Progress),
    ) -> (Outcome, Range) {
        let mut watch = Watch::new(&self.request.limits, progress);
        let begun = self.begin().map_err(Stopped::Limit);
        let stopped = begun.and_then(|()| self.go_on(scratch, &mut watch)).err();
        drop(watch);
        let range = self.range;
        let outcome = self.request.limits.undisturbed(|| self.finish(scratch, stopped));
        (outcome, range)
    }

    /// The initial state is reached.
    fn begin(&mut self) -> Result<(), Limit> {
        self.counts.transitions = 1;
        let state = std::mem::take(&mut self.state);
        let key = self.system.key(&state);
        let prepared = self.store.prepare(key, &mut self.worker)?;
        let (number, _) = self.store.insert(key, prepared, &mut self.worker)?;
        let estimate = self.directed.guide.estimate(&state, Way::default(), &mut self.room);
        self.range = Range::of(estimate);
        self.counts.state_bytes = state.len() as u64;
        let reached = self.reach(number, 0, estimate, (0, 0), &state);
        self.state = state;
        reached
    }

    fn go_on(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        while let Some((_, Waiting { number, length })) = self.open.pop() {
            let is_stale = self.lengths.get(number) != length + 1 || self.closed.contains(number);
            if is_stale || length > self.bound {
                continue;
            }
            watch.tick(&self.counts, length, &self.memory).map_err(Stopped::Limit)?;
            self.expand(number, length, scratch, watch).map_err(Stopped::Limit)?;
            self.check_errors()?;
        }
        Ok(())
    }

    /// Whether as many errors were found as were asked for, and none better can come.
    fn check_errors(&self) -> Result<(), Stopped> {
        let wanted = self.request.errors;
        if wanted == 0 || self.proves {
            return Ok(());
        }
        let longest = match self.rank {
            Rank::Length(_) => self.open.rank().unwrap_or(NEVER),
            Rank::Estimate => NEVER,
        };
        if self.findings.within(longest) >= wanted { Err(Stopped::Errors) } else { Ok(()) }
    }

    fn expand(
        &mut self,
        number: u32,
        length: u32,
        scratch: &mut S::Scratch,
        watch: &Watch<'_>,
    ) -> Result<(), Limit> {
        self.closed.insert(number)?;
        self.counts.depth = self.counts.depth.max(length.into());
        self.store.get(number, &mut self.key, &mut self.worker);
        self.state.clear();
        self.hidden.read(number, &mut self.state);
        self.state.extend_from_slice(&self.key);
        if self.is_too_far(length) {
            return Ok(());
        }
        let mut expansion = Expansion {
            system: self.system,
            store: &self.store,
            memory: &self.memory,
            worker: &mut self.worker,
            fresh: &mut self.fresh,
            limit: None,
        };
        let flow = self.system.expand(&self.state, scratch, &mut expansion);
        let limit = expansion.limit;
        let taken = self.take_fresh(number, length);
        watch.broken_off(limit, flow).and(taken)?;
        self.counts.expanded += 1;
        Ok(())
    }

    /// Whether it is sure that no run through the state at hand is shorter than the best one found.
    fn is_too_far(&mut self, length: u32) -> bool {
        let Some(guide) = self.directed.bound.filter(|_| self.proves && self.findings.len() > 0)
        else {
            return false;
        };
        let more = guide.estimate(&self.state, Way::default(), &mut self.room);
        length.saturating_add(more) > self.bound
    }

    /// Notes what came of an expansion. Errors are noted also past a limit: they were found.
    fn take_fresh(&mut self, parent: u32, length: u32) -> Result<(), Limit> {
        let mut fresh = std::mem::replace(&mut self.fresh, Fresh::new(&self.memory));
        for &(violation, by) in fresh.violations.iter() {
            self.meet(violation, longer(length, by as usize), (parent, by));
        }
        let reached = self.take_successors(&fresh, parent, length);
        fresh.clear();
        self.fresh = fresh;
        reached
    }

    fn take_successors(
        &mut self,
        fresh: &Fresh,
        parent: u32,
        length_before: u32,
    ) -> Result<(), Limit> {
        let before = self.estimates.get(parent);
        let (mut byte, mut step) = (0, 0);
        for (index, successor) in (0..).zip(fresh.successors.iter()) {
            let state = &fresh.bytes[byte..successor.bytes];
            let steps = &fresh.steps[step..successor.steps];
            (byte, step) = (successor.bytes, successor.steps);
            self.counts.transitions += 1;
            let key = self.system.key(state);
            let (number, _) = self.store.insert(key, successor.prepared, &mut self.worker)?;
            let total = longer(length_before, length(steps));
            if total > self.bound {
                continue;
            }
            let known = self.lengths.get(number);
            let estimate = match known {
                0 => {
                    let way = Way { before, steps };
                    let estimate = self.directed.guide.estimate(state, way, &mut self.room);
                    self.range.note(estimate);
                    self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
                    estimate
                }
                known if known <= total + 1 => continue,
                _ if !self.closed.contains(number) => self.estimates.get(number),
                _ if self.reopens => {
                    self.closed.remove(number);
                    self.counts.reopened += 1;
                    self.estimates.get(number)
                }
                _ => continue,
            };
            self.reach(number, total, estimate, (parent, index), state)?;
        }
        Ok(())
    }

    /// A run leads to a state that is new, or shorter than those known.
    fn reach(
        &mut self,
        number: u32,
        length: u32,
        estimate: u32,
        (parent, successor): (u32, u32),
        state: &[u8],
    ) -> Result<(), Limit> {
        if self.lengths.get(number) == 0 {
            if self.counts.states >= self.request.limits.max_states.unwrap_or(u64::MAX) {
                return Err(Limit::States);
            }
            self.counts.states += 1;
            self.estimates.set(number, estimate)?;
        }
        self.parents.set(number, parent)?;
        self.successors.set(number, successor)?;
        self.hidden.set(number, &state[..self.hidden.width()])?;
        self.lengths.set(number, length + 1)?;
        self.open.push(self.rank.of(length, estimate), estimate, Waiting { number, length })
    }

    /// A violation shows after a run of this length.
    fn meet(&mut self, violation: Violation, length: u32, path: (u32, u32)) {
        if length > self.bound {
            self.beyond |= !self.proves || self.findings.len() == 0;
            return;
        }
        self.counts.errors += 1;
        self.findings.meet(violation, length, path);
        if self.proves {
            // Only shorter ones are looked for from now on.
            self.bound = self.bound.min(length.saturating_sub(1));
        }
    }

    /// Puts together what was found.
    fn finish(mut self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        let found = self.findings.len() > 0;
        let all = stopped.is_none();
        let stopped = if all && self.proves && found { Some(Stopped::Errors) } else { stopped };
        let truncated = stopped.is_none() && (self.beyond || self.counts.states < self.store.len());
        self.counts.memory = self.memory.peak();
        let mut examples = self.findings.into_examples();
        keep_shortest(&mut examples, self.request.errors);
        let lowest = self.open.rank().unwrap_or(NEVER);
        let mut errors = Vec::new();
        for example in examples {
            let (last, by) = example.path;
            let mut path = Vec::new();
            let mut number = last;
            while number != 0 {
                path.push(Goal::Successor(self.successors.get(number)));
                number = self.parents.get(number);
            }
            let goals = path.into_iter().rev().chain([Goal::Wrong(example.violation, by)]);
            errors.push(Found {
                violation: example.violation,
                steps: follow(self.system, scratch, goals, Order::Whole, false).steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest: self.is_sure && example.length <= lowest || all && self.proves,
            });
        }
        Outcome { errors, met: 0, counts: self.counts, stopped, truncated }
    }
}
