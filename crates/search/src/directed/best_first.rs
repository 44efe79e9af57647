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
//! *What is ruled out*: some guides know of states from which nothing can go wrong. These are counted, but not expanded.
//!
//! *Better estimates*: a guide may come to know more while the search goes on. Then all that wait are ranked anew, if there is room for
//! that. A state that was expanded before was reached by a shortest run, if the guide was consistent, and stays so.
//!
//! *Threads*: others may expand states ahead of their turn (`ahead.rs`). All is noted in its turn, so that the answer
//! is the same for every number of threads.
//!
//! *Cost*: besides its key, 16 bytes for each state (length, estimate, and where it was reached from) and 8 while
//! it waits.

use std::sync::atomic::Ordering;
use std::time::Instant;

use spinward_guide::{NEVER, Unguided};
use spinward_machine::{System, Violation, system::length};
use spinward_store::{Flags, Full, Numbers, Store};

use super::ahead::{Ahead, Helpers, Job};
use super::fresh::Fresh;
use super::known::{Known, Reached, Shared};
use super::open::{Open, Turn, Waiting};
use super::{Directed, Method, Range, begin};
use crate::buffer::Buffer;
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, Watch, longer};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::{Goal, Order, follow};
use crate::start::Start;
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
    pub(crate) fn of(self, length: u32, estimate: u32) -> u32 {
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
/// No guide knows of run-time errors. If a search for shortest runs comes across one, which may be anywhere, what is
/// nearest is looked for without a guide.
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
    let is_unexpected = |error: &Found| {
        let is_unsure = is_sure(rank, directed) || request.shortest && !error.shortest;
        is_runtime(error.violation) && is_unsure
    };
    if !outcome.errors.iter().any(is_unexpected) {
        return (outcome, range);
    }
    let unguided = Directed { guide: &Unguided, bound: None };
    let outcome = look_again(outcome, request, begun, |request| {
        once(system, scratch, request, Rank::Length(1.0), unguided, progress).0
    });
    (outcome, range)
}

/// Whether an error is one that no guide knows of.
fn is_runtime(violation: Violation) -> bool {
    matches!(violation, Violation::Runtime(..))
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
    begin(Start { system, scratch, request, progress }, directed, rank)
}

/// Searches a system that leaves out what makes no difference, and if something is wrong and runs are to be
/// shortest ones the whole of it too, as far as that is.
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

impl Method for Rank {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        shared: &Shared<'_, S, T>,
    ) -> Result<(Outcome, Range), Full> {
        let lengths = Numbers::new(shared.memory.budget())?;
        Ok(BestFirst::new(shared, &lengths, start.request, self)?.run(start))
    }
}

/// What is known of the shortest run to each state.
struct Shortest<'a> {
    /// By state: its length, and one; 0 if none is within the bound.
    lengths: &'a Numbers,
    estimates: Numbers,
    /// Whether the state was expanded after it.
    closed: Flags,
}

impl Shortest<'_> {
    /// A state that waits, unless it was expanded since, or a shorter run to it is known, or it is too far now.
    fn current(&self, Waiting { number, length }: Waiting, bound: u32) -> Option<Reached> {
        let is_stale = self.lengths.get(number) != length + 1 || self.closed.contains(number);
        let is_current = !is_stale && length <= bound;
        is_current.then(|| Reached { number, length, estimate: self.estimates.get(number) })
    }
}

struct BestFirst<'a, S, T> {
    shared: &'a Shared<'a, S, T>,
    request: &'a Request,
    rank: Rank,
    /// Whether the guide alone sees to it that runs are shortest ones.
    is_sure: bool,
    /// Whether the search goes on with shorter runs after an error.
    proves: bool,
    /// Whether a state is expanded again when a shorter run to it is found.
    reopens: bool,
    known: Known<'a, S, T>,
    shortest: Shortest<'a>,
    open: Open,
    /// The rank of the state that is being expanded, or the least of those being ranked; also if a limit ends that.
    rank_at_hand: Option<u32>,
    /// The state at which each shows, and how many steps further.
    findings: Findings<(u32, u32)>,
    /// The length of the best run that the user knows of.
    told: Option<u32>,
    /// Whether a state was left out because what a guide is sure of is too far.
    left_out: bool,
    /// The moves after which the guide is asked whether it knows more, and whether it does.
    next_question: u64,
    improves: bool,
}

/// A guide is asked whether it knows more whenever there are more moves by this part.
const QUESTION_PART: u64 = 4;

impl<'a, S: System, T: Store> BestFirst<'a, S, T> {
    fn new(
        shared: &'a Shared<'a, S, T>,
        lengths: &'a Numbers,
        request: &'a Request,
        rank: Rank,
    ) -> Result<Self, Full> {
        let Shared { directed, memory, .. } = shared;
        let is_sure = is_sure(rank, *directed);
        let proves = request.shortest && !is_sure && request.errors == 1;
        let by_length = rank != Rank::Estimate && !directed.guide.is_consistent();
        let budget = memory.budget();
        Ok(Self {
            shared,
            request,
            rank,
            is_sure,
            proves,
            reopens: by_length || proves || request.limits.max_depth.is_some(),
            known: Known::new(shared, request)?,
            shortest: Shortest {
                lengths,
                estimates: Numbers::new(budget)?,
                closed: Flags::new(budget)?,
            },
            open: Open::new(memory),
            rank_at_hand: None,
            findings: Findings::new(),
            told: None,
            left_out: false,
            next_question: 1,
            improves: false,
        })
    }

    fn run(mut self, start: Start<'_, S>) -> (Outcome, Range) {
        let Start { scratch, request, progress, .. } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let mut stopped = self.begin().err().map(Stopped::from);
        while stopped.is_none() {
            let ahead = Ahead::new(self.shared, self.shortest.lengths, request.threads);
            stopped = ahead
                .run(scratch, |helpers, scratch| self.go_on(helpers, scratch, &mut watch).err());
            if !std::mem::take(&mut self.improves) {
                break;
            }
            stopped = self.rank_anew(&mut watch).err();
        }
        drop(watch);
        let range = self.known.range;
        let outcome = request.limits.undisturbed(|| self.finish(scratch, stopped));
        (outcome, range)
    }

    fn begin(&mut self) -> Result<(), Limit> {
        let first = self.known.begin()?;
        self.shortest.estimates.set(first.number, first.estimate)?;
        if !self.is_ruled_out(first.estimate) {
            self.wait(first)?;
        }
        Ok(())
    }

    /// Goes on until the guide knows more.
    fn go_on(
        &mut self,
        helpers: &mut Helpers<'_, '_, 'a, S, T>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        while let Some(next) = self.open.pop() {
            let (state, job) = match Turn::from(next) {
                Turn::State(state) => (state, None),
                Turn::Ticket(ticket) => helpers.take(ticket),
            };
            if let Some(from) = self.shortest.current(state, self.known.bound) {
                let done = job.as_ref().and_then(Job::done);
                self.rank_at_hand = Some(self.rank.of(from.length, from.estimate));
                self.expand(from, done.as_deref().map(Job::fresh), scratch, watch)?;
                self.rank_at_hand = None;
                self.check_errors()?;
                self.report_better(watch);
                self.hand_out(helpers);
            }
            if let Some(job) = job {
                helpers.give_back(job);
            }
            if self.is_guide_better() && self.has_room_to_rank_anew() {
                self.improves = true;
                self.open.take_back(|ticket| helpers.take(ticket).0);
                break;
            }
        }
        Ok(())
    }

    /// Whether the guide knows more than it tells so far.
    fn is_guide_better(&mut self) -> bool {
        let moves = self.known.counts.transitions;
        if moves < self.next_question {
            return false;
        }
        self.next_question = moves + moves / QUESTION_PART + 1;
        self.shared.directed.guide.is_better_after(moves)
    }

    /// Whether there is room enough to rank anew what waits: for a copy of it, and for new buckets, which may have room for twice as
    /// much, and take three times as much for a moment.
    fn has_room_to_rank_anew(&self) -> bool {
        4 * self.open.bytes() <= self.shared.memory.left()
    }

    /// Has all that wait ranked by what the guide knows now. Nobody else is at work.
    fn rank_anew(&mut self, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        self.shared.over.store(false, Ordering::Relaxed);
        let guide = self.shared.directed.guide;
        let mut waiting = Buffer::new(&self.shared.memory);
        waiting.with_room(self.open.len())?;
        guide.improve();
        // If a limit ends it, nothing is known of those that are left.
        self.rank_at_hand = Some(0);
        while let Some(state) = self.open.pop() {
            watch.tick(&self.known.counts, state.length, &self.shared.memory)?;
            waiting.push(state)?;
        }
        // Of those that rank the same the one that came first comes first again.
        while let Some(state) = waiting.pop() {
            watch.tick(&self.known.counts, state.length, &self.shared.memory)?;
            let Some(mut reached) = self.shortest.current(state, self.known.bound) else {
                continue;
            };
            reached.estimate = self.known.ask(guide, reached.number);
            self.known.range.note(reached.estimate);
            self.shortest.estimates.set(reached.number, reached.estimate).map_err(Limit::from)?;
            // Helpers may know of states behind it, which count as cut off if there is a bound.
            if self.request.limits.max_depth.is_some() || !self.is_ruled_out(reached.estimate) {
                self.wait(reached)?;
            }
        }
        self.rank_at_hand = None;
        self.check_errors()
    }

    /// Tells the user of a run that is better than those before, if there will be more.
    fn report_better(&mut self, watch: &mut Watch<'_>) {
        if !self.proves {
            return;
        }
        let lengths = self.findings.examples().map(|it| it.length);
        if let Some(best) = lengths.min().filter(|&best| self.told != Some(best)) {
            self.told = Some(best);
            watch.report_best(best, &self.known.counts, &self.shared.memory);
        }
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

    /// Expands a state, if that was not done before.
    fn expand(
        &mut self,
        from: Reached,
        done: Option<&Fresh>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        self.known.visit(from, watch)?;
        self.shortest.closed.insert(from.number)?;
        if self.is_too_far(from) {
            return Ok(());
        }
        match done {
            Some(fresh) => self.take(fresh, from)?,
            None => {
                let (fresh, whole) = self.known.expand(from.number, scratch, watch);
                let taken = self.take(&fresh, from);
                self.known.keep(fresh);
                whole.and(taken)?;
            }
        }
        self.known.counts.expanded += 1;
        Ok(())
    }

    /// Has states expanded that come next.
    fn hand_out(&mut self, helpers: &mut Helpers<'_, '_, 'a, S, T>) {
        let mut wanted = helpers.wanted();
        if wanted == 0 {
            return;
        }
        let (known, shortest) = (&self.known, &self.shortest);
        // Some may have been reached by a shorter run.
        let most = helpers.ahead() + 4 * wanted;
        self.open.exchange_next(most, |state| {
            let Some(from) = shortest.current(state, known.bound) else {
                return Some(None);
            };
            wanted = wanted.checked_sub(1)?;
            let read_hidden = |out: &mut Vec<u8>| known.read_hidden(state.number, out);
            Some(Some(helpers.add(from, known.bound, read_hidden)?))
        });
        helpers.call();
    }

    /// Whether it is sure that no run through a state is shorter than the best one found, unless to a run-time error.
    fn is_too_far(&mut self, Reached { number, length, .. }: Reached) -> bool {
        let bound = self.shared.directed.bound;
        let Some(guide) = bound.filter(|_| self.proves && self.findings.len() > 0) else {
            return false;
        };
        let is_too_far = length.saturating_add(self.known.ask(guide, number)) > self.known.bound;
        self.left_out |= is_too_far;
        is_too_far
    }

    /// Notes what came of an expansion. Errors are noted also past a limit: they were found.
    fn take(&mut self, fresh: &Fresh, from: Reached) -> Result<(), Limit> {
        for &(violation, by) in fresh.violations.iter() {
            self.meet(violation, longer(from.length, by as usize), (from.number, by));
        }
        for successor in fresh.successors() {
            let Some(number) = self.known.find(successor)? else { continue };
            let total = longer(from.length, length(successor.steps));
            if total > self.known.bound {
                continue;
            }
            let estimate = match self.shortest.lengths.get(number) {
                0 => {
                    let estimate = self.known.estimate(successor, from.estimate);
                    self.known.note_size(successor);
                    self.known.count_state()?;
                    self.shortest.estimates.set(number, estimate)?;
                    estimate
                }
                known if known <= total + 1 => continue,
                _ if !self.shortest.closed.contains(number) => self.shortest.estimates.get(number),
                _ if self.reopens => {
                    self.shortest.closed.remove(number);
                    self.known.counts.reopened += 1;
                    self.shortest.estimates.get(number)
                }
                _ => continue,
            };
            if self.is_ruled_out(estimate) {
                self.shortest.lengths.set(number, total + 1)?;
                continue;
            }
            self.known.reach(number, from.number, successor)?;
            self.wait(Reached { number, length: total, estimate })?;
        }
        Ok(())
    }

    /// Whether nothing at all can come of a state.
    fn is_ruled_out(&self, estimate: u32) -> bool {
        estimate == NEVER && self.shared.directed.guide.rules_out()
    }

    /// A run leads to a state that is new, or is shorter than those known.
    fn wait(&mut self, Reached { number, length, estimate }: Reached) -> Result<(), Limit> {
        self.shortest.lengths.set(number, length + 1)?;
        self.open.push(self.rank.of(length, estimate), estimate, Waiting { number, length })
    }

    /// A violation shows after a run of this length.
    fn meet(&mut self, violation: Violation, length: u32, path: (u32, u32)) {
        if length > self.known.bound {
            self.known.truncated |= !self.proves || self.findings.len() == 0;
            return;
        }
        self.known.counts.errors += 1;
        self.findings.meet(violation, length, path);
        if self.proves {
            // Only shorter ones are looked for from now on.
            self.known.bound = self.known.bound.min(length.saturating_sub(1));
        }
    }

    /// Puts together what was found.
    fn finish(self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        let Self { known, findings, .. } = self;
        let Shared { system, store, memory, .. } = self.shared;
        let found = findings.len() > 0;
        let all = stopped.is_none();
        let stopped = if all && self.proves && found { Some(Stopped::Errors) } else { stopped };
        // What helpers put into the store was met by the search too, if it has seen everything, unless that was ruled out since.
        let is_bounded = self.request.limits.max_depth.is_some();
        let is_cut_off = known.truncated || is_bounded && known.counts.states < store.len();
        let truncated = stopped.is_none() && is_cut_off;
        let counts = Counts { memory: memory.peak(), ..known.counts };
        let mut examples = findings.into_examples();
        keep_shortest(&mut examples, self.request.errors);
        let unseen = self.rank_at_hand.into_iter().chain(self.open.rank());
        let lowest = unseen.min().unwrap_or(NEVER);
        let mut errors = Vec::new();
        for example in examples {
            let (last, by) = example.path;
            let is_proved = all && self.proves && !(self.left_out && is_runtime(example.violation));
            let path = known.path(0, last).into_iter().map(Goal::Successor);
            let goals = path.chain([Goal::Wrong(example.violation, by)]);
            errors.push(Found {
                violation: example.violation,
                steps: follow(*system, scratch, goals, Order::Whole, false).steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest: self.is_sure && example.length <= lowest || is_proved,
            });
        }
        Outcome { errors, met: 0, counts, stopped, truncated }
    }
}
