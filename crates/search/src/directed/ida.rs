//! Iterative deepening A*.
//!
//! Edelkamp, Lluch Lafuente and Leue, *Directed explicit-state model checking in the validation of communication
//! protocols*, 2004, section 3.3 (Korf, *Depth-first iterative-deepening*, 1985). Depth-first searches follow each
//! other, each of which goes no further than to states of a certain rank, which is the length of the run and the
//! estimate of what is to come; the least rank that was too high is that of the next. So the runs are those of A*,
//! and no state waits but on the stack.
//!
//! *A table of all states* keeps the length of the shortest run to each; a state is expanded again in the same
//! iteration when a shorter run comes to it. *With a table that may lose states* (partial IDA*, there too) that
//! cannot be known, so that a state is visited once in an iteration. Each iteration has an empty table and other
//! hash functions, so that what one loses the next may find; it is as large as the last one asks for, up to what
//! there is. When nothing is left to deepen, the last one is repeated so, as often as [`SWEEPS`] says.
//!
//! *Invariant*: an iteration comes to all states to which a run leads on which no rank is higher than its own, if
//! it loses none. With an admissible guide these are all of a shortest run to an error, so an error that was not
//! found before is found by a run that is no longer than this rank, which is a shortest one. If no rank was too
//! high, everything was seen.
//!
//! *Cost*: a stack of states as in [`crate::lossy`], with four bytes more for each; in the table of all states
//! four bytes and the key for each, without what waits or where it was reached from. The time is that of all
//! iterations, of which the last ones are the longest.

use std::time::Instant;

use spinward_guide::{Guide, NEVER, Room, Unguided, Way};
use spinward_machine::{System, Violation};
use spinward_store::{
    Bitstate, Compact, Exact, Full, Lossy, Numbers, Omissions, Set as _, Store, Table, Tree, Worker,
};

use super::best_first::Rank;
use super::chance::{Chance, Salted};
use super::{Directed, Range};
use crate::carrying::{Course, Recall, Visit, search};
use crate::limits::{Limit, Memory, Watch};
use crate::lossy::InTable;
use crate::outcome::{Counts, Found, Keep, Outcome, Place, Progress, Request, Stopped};
use crate::start::Start;
use crate::whole::look_again;

/// How often partial IDA* looks at everything, with other hash functions each time.
pub const SWEEPS: u32 = 3;

/// Bytes of a table of bits for each state that the last iteration has seen, and at least; to clear more than that
/// would take longer than the search. So many lose hardly any, even if there are ten times as many states now.
const STATE_BYTES: u64 = 1 << 10;
const FIRST_TABLE: u64 = 1 << 20;

/// If it is less likely than this that a state was lost, once is enough.
const NEGLIGIBLE: f64 = 1e-3;

/// Searches with a table of all states; also tells the range of the estimates. The estimate counts by its weight.
///
/// No guide knows of run-time errors. If it comes across one, or if runs are to be shortest ones and the guide
/// does not see to that, it looks again for the nearest with a guide that does.
pub fn ida<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    weight: f64,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let begun = Instant::now();
    let start = Start { system, scratch, request, progress };
    let (outcome, range) = once(start, weight, directed.guide);
    let is_sure = is_sure(weight, directed.guide);
    let is_unexpected = |error: &Found| matches!(error.violation, Violation::Runtime(..));
    let unexpected = outcome.errors.iter().any(is_unexpected);
    let is_enough = if is_sure { !unexpected } else { !request.shortest };
    if is_enough {
        return (outcome, range);
    }
    let sure = directed.bound.filter(|bound| !unexpected && bound.is_admissible());
    let outcome = look_again(outcome, request, begun, |request| {
        let start = Start { system, scratch, request, progress };
        once(start, 1.0, sure.unwrap_or(&Unguided)).0
    });
    (outcome, range)
}

/// Searches a system that leaves out what makes no difference, and if something is wrong and runs are to be
/// shortest ones the whole of it too, as far as that is.
pub fn ida_of_less<S: System, W: System>(
    (system, directed): (&S, Directed<'_>),
    (whole, whole_directed): (&W, Directed<'_>),
    scratch: &mut S::Scratch,
    request: &Request,
    weight: f64,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let begun = Instant::now();
    let (outcome, range) = ida(system, scratch, request, weight, directed, progress);
    if !is_sure(weight, directed.guide) && !request.shortest {
        return (outcome, range);
    }
    let outcome = look_again(outcome, request, begun, |request| {
        ida(whole, &mut whole.scratch(), request, weight, whole_directed, progress).0
    });
    (outcome, range)
}

/// Searches with a table that may lose states; also tells the range of the estimates, and how many states the last
/// iteration probably lost. No run is promised to be a shortest one.
pub fn partial_ida<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    weight: f64,
    table: Table,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range, Omissions) {
    let memory = Memory::new(request.limits.memory);
    let budget = memory.budget().clone();
    let start = Start { system, scratch, request, progress };
    match table {
        Table::Bitstate { bytes, hashes } => {
            let table = |enough: u64| Bitstate::new(bytes.min(enough), hashes, &budget);
            partial(start, weight, directed.guide, memory, table)
        }
        Table::Compact { bytes, bits } => {
            // If there is not enough room, the search ends: there is no way to tell what is.
            let table = |_| Compact::new(bytes, bits, &budget);
            partial(start, weight, directed.guide, memory, table)
        }
    }
}

/// Whether runs are shortest ones.
fn is_sure(weight: f64, guide: &dyn Guide) -> bool {
    weight <= 1.0 && guide.is_admissible()
}

fn once<S: System>(start: Start<'_, S>, weight: f64, guide: &dyn Guide) -> (Outcome, Range) {
    let memory = Memory::new(start.request.limits.memory);
    let budget = memory.budget().clone();
    match start.request.keep {
        Keep::Exact => exact(start, weight, guide, memory, || Exact::new(&budget)),
        Keep::Tree => exact(start, weight, guide, memory, || Tree::new(&budget)),
    }
}

fn exact<S: System, T: Store>(
    start: Start<'_, S>,
    weight: f64,
    guide: &dyn Guide,
    memory: Memory,
    store: impl Fn() -> Result<T, Full>,
) -> (Outcome, Range) {
    let mut course = Threshold::new(start.system, weight, guide);
    let budget = memory.budget().clone();
    let renew = |known: Option<Lengths<T>>, _| match known {
        Some(known) => known.forget(),
        None => Ok(Lengths {
            store: store()?,
            worker: Worker::default(),
            lengths: Numbers::new(&budget)?,
        }),
    };
    let (mut outcome, _) = deepen(start, &mut course, memory, renew, |_| false);
    let shortest = is_sure(weight, guide);
    outcome.errors.iter_mut().for_each(|error| error.shortest = shortest);
    (outcome, course.range)
}

fn partial<S: System, T: Lossy>(
    start: Start<'_, S>,
    weight: f64,
    guide: &dyn Guide,
    memory: Memory,
    table: impl Fn(u64) -> Result<T, Full>,
) -> (Outcome, Range, Omissions) {
    let mut course = Threshold::new(start.system, weight, guide);
    let mut salts = Chance::new(0, 0);
    let renew = |known: Option<InTable<Salted<T>>>, rank| {
        let seen = known.as_ref().map_or(0, |known| known.table.len());
        // There is no room for both.
        drop(known);
        // Behind the last rank there may be any number.
        let enough = if rank == NEVER { u64::MAX } else { FIRST_TABLE.max(seen * STATE_BYTES) };
        Ok(InTable::new(Salted::new(table(enough)?, salts.next())))
    };
    let mut sweeps = 0;
    let again = |known: &InTable<Salted<T>>| {
        sweeps += 1;
        sweeps < SWEEPS && known.table.omissions().probability >= NEGLIGIBLE
    };
    let (outcome, known) = deepen(start, &mut course, memory, renew, again);
    let omissions = known.map_or(Omissions::default(), |known| known.table.omissions());
    (outcome, course.range, omissions)
}

/// Searches with higher and higher ranks. What an iteration remembers is made of what the last one did, for its
/// rank; when all was seen, it is asked whether to look again.
fn deepen<S: System, R: Recall>(
    Start { system, scratch, request, progress }: Start<'_, S>,
    course: &mut Threshold<'_>,
    memory: Memory,
    mut renew: impl FnMut(Option<R>, u32) -> Result<R, Full>,
    mut again: impl FnMut(&R) -> bool,
) -> (Outcome, Option<R>) {
    let begun = Instant::now();
    let mut all = None;
    let mut known = None;
    let mut seen_all = false;
    loop {
        let recall = match renew(known.take(), course.rank) {
            Ok(recall) => recall,
            Err(full) => {
                add(&mut all, Outcome::without_room(full.into()), seen_all);
                break;
            }
        };
        let request = &Request { shortest: false, ..request.later(begun.elapsed()) };
        let watch = Watch::new(&request.limits, progress);
        course.next = None;
        let (outcome, after) =
            search(system, scratch, request, watch, (recall, &mut *course), memory.clone());
        let ended = outcome.stopped.is_some();
        add(&mut all, outcome, seen_all);
        let repeats = !ended && course.next.is_none() && again(&after);
        known = Some(after);
        match course.next {
            _ if ended => break,
            Some(next) => {
                course.rank = next;
                let moves = all.as_ref().map_or(0, |it| it.counts.transitions);
                if course.guide.is_better_after(moves) {
                    course.guide.improve();
                }
            }
            None if repeats => seen_all = true,
            None => break,
        }
    }
    let mut outcome = all.unwrap_or_else(|| Outcome::without_room(Limit::Memory));
    if request.errors > 0 {
        outcome.errors.truncate(request.errors);
    }
    (outcome, known)
}

/// Adds what an iteration found: an error by the run that was found first. States are those of the largest
/// iteration. Where all was seen before, no limit can change that.
fn add(all: &mut Option<Outcome>, outcome: Outcome, seen_all: bool) {
    let Some(all) = all else {
        *all = Some(outcome);
        return;
    };
    let (before, now) = (all.counts, outcome.counts);
    all.counts = Counts {
        states: before.states.max(now.states),
        transitions: before.transitions + now.transitions,
        expanded: before.expanded + now.expanded,
        reopened: before.reopened + now.reopened,
        depth: before.depth.max(now.depth),
        errors: before.errors.max(now.errors),
        state_bytes: before.state_bytes.max(now.state_bytes),
        memory: before.memory.max(now.memory),
        ..before
    };
    for error in outcome.errors {
        let place = Place::of(error.violation);
        match all.errors.iter_mut().find(|it| Place::of(it.violation) == place) {
            Some(known) => known.occurrences = known.occurrences.max(error.occurrences),
            None => all.errors.push(error),
        }
    }
    if !(seen_all && matches!(outcome.stopped, Some(Stopped::Limit(_)))) {
        all.stopped = outcome.stopped;
        all.truncated = outcome.truncated;
    }
}

/// The course of an iteration: no further than to states of a certain rank.
struct Threshold<'a> {
    guide: &'a dyn Guide,
    weight: Rank,
    room: Room,
    range: Range,
    rank: u32,
    /// The lowest rank that was too high.
    next: Option<u32>,
}

impl<'a> Threshold<'a> {
    /// That of the first iteration.
    fn new<S: System>(system: &S, weight: f64, guide: &'a dyn Guide) -> Self {
        let mut state = Vec::new();
        system.initial(&mut state);
        let mut room = Room::default();
        let estimate = guide.estimate(&state, Way::default(), &mut room);
        let weight = Rank::Length(weight);
        let (range, rank) = (Range::of(estimate), weight.of(0, estimate));
        Self { guide, weight, room, range, rank, next: None }
    }

    fn admits_rank(&mut self, rank: u32) -> bool {
        let is_admitted = rank <= self.rank;
        if !is_admitted {
            self.next = Some(self.next.map_or(rank, |next| next.min(rank)));
        }
        is_admitted
    }
}

impl Course for Threshold<'_> {
    const ESTIMATES: bool = true;
    const IN_ORDER: bool = false;

    fn admit(&mut self, state: &[u8], way: Way<'_>, length: u32) -> Option<u32> {
        let estimate = self.guide.estimate(state, way, &mut self.room);
        self.range.note(estimate);
        self.admits_rank(self.weight.of(length, estimate)).then_some(estimate)
    }

    fn admits_error(&mut self, length: u32) -> bool {
        self.admits_rank(length)
    }
}

/// All states, and by state the length of the shortest run that led to it in this iteration, and one; 0 if none did.
struct Lengths<T> {
    store: T,
    worker: Worker,
    lengths: Numbers,
}

impl<T: Store> Lengths<T> {
    /// For the next iteration: the states stay.
    fn forget(self) -> Result<Self, Full> {
        for number in 0..self.store.len() as u32 {
            if self.lengths.get(number) != 0 {
                self.lengths.set(number, 0)?;
            }
        }
        Ok(self)
    }

    fn number(&mut self, key: &[u8], prepared: u64) -> Result<u32, Limit> {
        Ok(self.store.insert(key, prepared, &mut self.worker)?.0)
    }
}

impl<T: Store> Recall for Lengths<T> {
    const FORGETS: bool = false;

    fn prepare(&mut self, key: &[u8]) -> Result<u64, Limit> {
        let prepared = self.store.prepare(key, &mut self.worker)?;
        self.store.prefetch(prepared);
        Ok(prepared)
    }

    fn knows(&mut self, key: &[u8], prepared: u64, length: u32) -> Result<bool, Limit> {
        let number = self.number(key, prepared)?;
        Ok((1..=length + 1).contains(&self.lengths.get(number)))
    }

    fn enter(&mut self, key: &[u8], length: u32, _: &Memory) -> Result<Visit, Limit> {
        let prepared = self.store.prepare(key, &mut self.worker)?;
        let number = self.number(key, prepared)?;
        let visit = match self.lengths.get(number) {
            0 => Visit::New,
            known if known <= length + 1 => return Ok(Visit::No),
            _ => Visit::Again,
        };
        self.lengths.set(number, length + 1)?;
        Ok(visit)
    }
}
