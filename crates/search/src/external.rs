//! Breadth-first search and A* with states on disk, where they do not fit into memory.
//!
//! Jabbar and Edelkamp, *I/O efficient directed model checking*, 2005: *External A\** (section 3) on graphs that are
//! directed and weighted (sections 4.1 and 4.2: atomic sequences are edges of many steps), and breadth-first search,
//! which is the same with no estimates. States are expanded a bucket at a time: those that were reached by runs of one length,
//! and have one estimate. Whether a state is known already is found out when its bucket has its turn.
//!
//! As long as all states fit into memory, nothing is written (`pool.rs`). Then they go to disk as sorted runs
//! (`shelf.rs`), and a bucket is gone through in the order of the states' bytes, in slices that threads take
//! (`job.rs`): each merges what it has of the bucket's runs, subtracts what was expanded, and expands the rest, so
//! that reading, expanding and writing go on at the same time.
//!
//! *Invariant*: all states below the bucket at hand that were ever reached were expanded, or wait. With a consistent
//! guide each is expanded once, as in [`best_first`](crate::directed::best_first); otherwise again if a shorter run to it is found, which
//! counts as reopened. Shortest runs with guides that promise nothing are found as there (section 4.4): the first
//! error gives a bound, and the search goes on with shorter runs only.
//!
//! *Survival*: now and then, and when a limit ends the search, a manifest is written (`record.rs`) that lists all runs
//! and what was counted. A search that begins where there is a manifest goes on from there.
//!
//! *Runs to errors* are found backwards (`chain.rs`): for a state, one among those expanded before that it follows from. A
//! byte of each state's record says of most of these that it is none of them.
//!
//! *Cost*: on disk some ten bytes for each state; each is read again as often as a bucket has states that may be the same.

mod chain;
mod come;
mod filter;
mod form;
mod job;
mod pool;
mod record;
mod shelf;
mod subtract;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use spinward_disk::{Error, Faults, Folder};
use spinward_guide::{Guide, NEVER, Room, Unguided, Way};
use spinward_machine::{System, Violation};
use spinward_store::{Learner, trim};

use crate::directed::best_first::Rank;
use crate::directed::{Directed, Range};
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Clock, Limit, MAX_LENGTH, Memory, Watch, bound};
use crate::outcome::{Counts, Found, OnDisk, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;
use crate::start::Start;
use crate::sweep::walk;
use crate::whole::look_again;

use form::Form;
use job::{Hand, Job, Why};
use pool::{Arrival, Bucket, Pool, hash_of, mark};
pub use record::{Info, info, remove};
use shelf::Shelf;

/// The folders of a check, one for each of its searches, in the order in which they come.
#[derive(Debug)]
pub struct Stages {
    path: PathBuf,
    faults: Faults,
    next: u32,
    /// What went wrong with a file, if that ended a search.
    pub failure: Option<Error>,
    /// What ended the search of the whole for a shortest run, if it did not come to its end.
    pub cut_short: Option<Limit>,
    /// The most bytes that were on disk at a time.
    pub bytes: u64,
    /// Whether a search went on where another one had ended.
    pub resumed: bool,
}

impl Stages {
    /// Those in a folder, where writing may fail.
    pub fn new(path: &Path, faults: Faults) -> Self {
        let path = path.to_owned();
        Self { path, faults, next: 0, failure: None, cut_short: None, bytes: 0, resumed: false }
    }

    /// The folder of a stage.
    pub fn folder(path: &Path, stage: u32) -> PathBuf {
        path.join(format!("search-{}", stage + 1))
    }

    fn next_folder(&mut self) -> Result<Folder, Error> {
        let path = Self::folder(&self.path, self.next);
        self.next += 1;
        Folder::new(&path, self.faults.clone())
    }
}

/// Searches the states with the lowest rank first: the length of the run so far and the estimate of what is to come.
/// Also tells the range of the estimates. What cannot be read or written ends the search, and is told by `stages`.
pub fn external<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    directed: Directed<'_>,
    stages: &mut Stages,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let begun = Instant::now();
    let start = Start { system, scratch: &mut *scratch, request, progress: &mut *progress };
    let (outcome, range) = once(start, directed, stages);
    // No guide knows of run-time errors, which may be anywhere: what is nearest is looked for without one.
    let is_sure = directed.guide.is_admissible();
    let is_unexpected = |error: &Found| {
        matches!(error.violation, Violation::Runtime(..))
            && (is_sure || request.shortest && !error.shortest)
    };
    let has_estimates = range.most > 0;
    if !has_estimates || !outcome.errors.iter().any(is_unexpected) {
        return (outcome, range);
    }
    let unguided = Directed { guide: &Unguided, bound: None };
    let outcome = look_again(outcome, request, begun, |request| {
        once(Start { system, scratch, request, progress }, unguided, stages).0
    });
    (outcome, range)
}

/// Searches a system that leaves out what makes no difference, and if something is wrong and runs are to be
/// shortest ones the whole of it too, as far as that is.
pub fn external_of_less<S: System, W: System>(
    (system, directed): (&S, Directed<'_>),
    (whole, whole_directed): (&W, Directed<'_>),
    scratch: &mut S::Scratch,
    request: &Request,
    stages: &mut Stages,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let begun = Instant::now();
    let (outcome, range) = external(system, scratch, request, directed, stages, progress);
    if !directed.guide.is_admissible() && !request.shortest {
        return (outcome, range);
    }
    let outcome = look_again(outcome, request, begun, |request| {
        let scratch = &mut whole.scratch();
        let (outcome, _) = external(whole, scratch, request, whole_directed, stages, progress);
        if let Some(Stopped::Limit(limit)) = outcome.stopped {
            stages.cut_short = Some(limit);
        }
        outcome
    });
    (outcome, range)
}

fn once<S: System>(
    Start { system, scratch, request, progress }: Start<'_, S>,
    directed: Directed<'_>,
    stages: &mut Stages,
) -> (Outcome, Range) {
    let watch = Watch::without_alarm(&request.limits, progress);
    // What was found before must be found again, however late it is.
    let begin = || Search::new(system, request, directed, stages, watch.clock());
    let searched = request.limits.undisturbed(begin);
    let (outcome, range) = match searched {
        Ok(mut search) => {
            let mut watch = watch.with_alarm(&request.limits);
            let stopped = search.run(scratch, &mut watch);
            drop(watch);
            let outcome = request.limits.undisturbed(|| search.finish(scratch, stopped));
            stages.bytes = stages.bytes.max(search.shelf.peak);
            stages.resumed |= search.resumed;
            stages.failure = search.failure.take();
            (outcome, search.notes().range)
        }
        Err(failure) => {
            stages.failure = Some(failure);
            (Outcome::without_room(Limit::Disk), Range::of(0))
        }
    };
    (outcome, range)
}

/// Where something wrong shows.
#[derive(Clone, Debug)]
struct Origin {
    /// The state that was expanded.
    state: Vec<u8>,
    bucket: Bucket,
    /// Some bits of the hash of the one before.
    mark: u8,
    /// How many steps further it shows.
    by: u32,
    /// Which of the things that are wrong there it is.
    nth: u32,
}

impl Origin {
    /// Which one is told if several are as good: the same in whatever order they are found.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let all = |it: &Self| (it.bucket, it.by, it.nth);
        self.state.cmp(&other.state).then_with(|| all(self).cmp(&all(other)))
    }
}

/// What a search knows beside the states.
struct Notes {
    counts: Counts,
    /// How many states that waited were found to be known.
    removed: u64,
    range: Range,
    findings: Findings<Origin>,
    /// The most steps of an edge.
    heaviest: u32,
    /// Whether the bound on the depth cut off a state or an error.
    truncated: bool,
    /// Whether a state was left out because what a guide is sure of is too far.
    left_out: bool,
    /// The buckets of states that wait, by rank; those beyond the bound come last.
    open: BTreeMap<(bool, u32), BTreeSet<Bucket>>,
}

impl Notes {
    /// How many states were done with, some of them more than once.
    fn closed(&self) -> u64 {
        self.counts.states + self.counts.reopened
    }
}

/// Which runs are looked at.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Whether the guide alone sees to it that runs are shortest ones.
    is_sure: bool,
    /// Whether the search goes on with shorter runs after an error.
    proves: bool,
    /// Longer runs are cut off, as the user wants it.
    most: u32,
}

struct Search<'a, S: System> {
    system: &'a S,
    directed: Directed<'a>,
    request: &'a Request,
    reach: Reach,
    /// Longer runs are of no use any more, as a better one is known.
    bound: AtomicU32,
    /// So many more states may count.
    left: AtomicU64,
    clock: Clock<'a>,
    memory: Memory,
    pool: Pool,
    shelf: Shelf,
    form: Form,
    notes: Mutex<Notes>,
    threads: usize,
    initial: Vec<u8>,
    skip: usize,
    /// How many states are expanded before they are noted.
    batch: usize,
    resumed: bool,
    failure: Option<Error>,
}

/// How many states are expanded before they are noted, if there is room.
const BATCH: usize = 256;

impl<'a, S: System> Search<'a, S> {
    /// Begins, or goes on where the last one ended.
    fn new(
        system: &'a S,
        request: &'a Request,
        directed: Directed<'a>,
        stages: &mut Stages,
        clock: Clock<'a>,
    ) -> Result<Self, Error> {
        let folder = stages.next_folder()?;
        let mut initial = Vec::new();
        system.initial(&mut initial);
        let skip = initial.len() - system.key(&initial).len();
        let guide = directed.guide;
        let threads = if guide.remembers() { 1 } else { request.threads.max(1) };
        let bytes = request.limits.memory.unwrap_or(u64::MAX / 4);
        let is_sure = guide.is_admissible();
        // What is sorted, read and written needs room too, and so do what a guide and an expansion work with.
        let pool = Pool::new(bytes / 16 * 7, skip);
        let ahead = (bytes >> 11).clamp(1 << 12, 1 << 19) as usize;
        let by_estimate = skip == 0 && !(guide.asks_the_way() || guide.remembers());
        let mut search = Self {
            system,
            directed,
            request,
            reach: Reach {
                is_sure,
                proves: request.shortest && !is_sure && request.errors == 1,
                most: bound(&request.limits),
            },
            bound: AtomicU32::new(MAX_LENGTH),
            left: AtomicU64::new(request.limits.max_states.unwrap_or(u64::MAX)),
            clock,
            memory: Memory::new(request.limits.memory.map(|bytes| bytes / 8)),
            pool,
            shelf: Shelf::new(folder, skip, ahead, by_estimate),
            form: Form::default(),
            notes: Mutex::new(Notes {
                counts: Counts::default(),
                removed: 0,
                range: Range::of(0),
                findings: Findings::new(),
                heaviest: 1,
                truncated: false,
                left_out: false,
                open: BTreeMap::new(),
            }),
            threads,
            initial,
            skip,
            batch: BATCH,
            resumed: false,
            failure: None,
        };
        search.resumed = search.restore()?;
        Ok(search)
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guide(&self) -> &'a dyn Guide {
        self.directed.guide
    }

    fn bound(&self) -> u32 {
        self.bound.load(Ordering::Relaxed)
    }

    /// Has so many more states count, or as many as may; how many.
    fn reserve(&self, states: u64) -> u64 {
        let less = |left: u64| Some(left.saturating_sub(states));
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        left.unwrap_or_else(|left| left).min(states)
    }

    /// What decides when a bucket has its turn.
    fn rank(&self, Bucket { length, estimate }: Bucket) -> (bool, u32) {
        (length == MAX_LENGTH, Rank::Length(1.0).of(length, estimate))
    }

    /// States wait in a bucket.
    fn open(&self, notes: &mut Notes, bucket: Bucket) {
        notes.open.entry(self.rank(bucket)).or_default().insert(bucket);
    }

    /// Runs to its end; what ended it before, if anything did.
    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Option<Stopped> {
        if !self.resumed
            && let Err(limit) = self.begin()
        {
            // There is nothing yet to go on with.
            return Some(limit.into());
        }
        let mut hands: Vec<_> = (0..self.threads).map(|_| Hand::new(self.system)).collect();
        let result = self.go_on(&mut hands, watch);
        for hand in hands {
            self.system.absorb(scratch, hand.scratch);
        }
        match result {
            Ok(()) => None,
            Err(Why::Errors) => Some(Stopped::Errors),
            Err(why @ (Why::Full | Why::Limit(_))) => {
                let limit = if let Why::Limit(limit) = why { limit } else { Limit::Memory };
                if let Err(failure) = self.save_all() {
                    self.failure = Some(failure);
                }
                Some(limit.into())
            }
            Err(Why::Disk(failure)) => {
                self.failure = Some(failure);
                Some(Limit::Disk.into())
            }
        }
    }

    /// The initial state is reached.
    fn begin(&mut self) -> Result<(), Limit> {
        let initial = &self.initial;
        let estimate = self.guide().estimate(initial, Way::default(), &mut Room::default());
        let bucket = Bucket { length: 0, estimate };
        let hash = hash_of(&initial[self.skip..]);
        let arrival = Arrival { length: 0, is_still: false, mark: mark(hash) };
        self.pool.reach(initial, hash, arrival, || estimate)?;
        let mut notes = self.notes();
        notes.counts.transitions = 1;
        notes.counts.state_bytes = initial.len() as u64;
        notes.range = Range::of(estimate);
        self.open(&mut notes, bucket);
        Ok(())
    }

    fn go_on(&mut self, hands: &mut [Hand<S>], watch: &mut Watch<'_>) -> Result<(), Why> {
        if self.resumed {
            self.shelf.begin_filters(self.request.limits.memory);
            self.shelf.fill_filters(|| self.clock.check())?;
        }
        while let Some((rank, bucket)) = self.next() {
            self.check_errors(rank)?;
            self.clock.check().map_err(Why::Limit)?;
            let before = self.notes().closed();
            match self.empty(bucket, hands, watch) {
                Ok(()) => {}
                Err(Why::Full) => {
                    // If not even a few states could be expanded in all of the room, fewer may be.
                    let is_stuck = self.notes().closed() == before;
                    self.batch = if is_stuck { self.batch / 4 } else { BATCH };
                    if self.batch == 0 {
                        return Err(Why::Full);
                    }
                    if !self.pack(&mut hands[0])? {
                        self.spill(!is_stuck)?;
                    }
                }
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// The next bucket. In memory the one whose states seem nearest to an error; on disk, and where no error is
    /// expected, the one with the shortest runs, so that each bucket has its turn once.
    fn next(&self) -> Option<(u32, Bucket)> {
        let notes = self.notes();
        let (&(_, rank), buckets) = notes.open.first_key_value()?;
        let is_near = self.shelf.is_empty() && rank != NEVER;
        let bucket = if is_near { buckets.last() } else { buckets.first() };
        bucket.map(|&bucket| (rank, bucket))
    }

    /// Whether as many errors were found as were asked for, and none better can come.
    fn check_errors(&self, rank: u32) -> Result<(), Why> {
        let wanted = self.request.errors;
        if wanted > 0 && !self.reach.proves && self.notes().findings.within(rank) >= wanted {
            return Err(Why::Errors);
        }
        Ok(())
    }

    /// Expands all states of a bucket.
    fn empty(
        &mut self,
        bucket: Bucket,
        hands: &mut [Hand<S>],
        watch: &mut Watch<'_>,
    ) -> Result<(), Why> {
        let addresses = self.pool.take_waiting(bucket);
        let parts = self.shelf.take_waiting(bucket).map_err(Why::Disk)?;
        let closed = self.shelf.closed(bucket.estimate);
        {
            let mut notes = self.notes();
            let rank = self.rank(bucket);
            if let Some(buckets) = notes.open.get_mut(&rank) {
                buckets.remove(&bucket);
                if buckets.is_empty() {
                    notes.open.remove(&rank);
                }
            }
            watch.disk = (!self.shelf.is_empty()).then(|| OnDisk {
                bytes: self.shelf.bytes(),
                removed: notes.removed,
                waiting: self.shelf.waiting() + parts.iter().map(|it| it.run.len()).sum::<u64>(),
            });
        }
        let is_told = bucket.length > self.reach.most && self.notes().truncated;
        if is_told || bucket.length > self.bound() {
            self.shelf.drop_parts(parts);
            return Ok(());
        }
        let job = Job::new(self, bucket, addresses, parts, closed);
        let result = job.run(self, hands, watch);
        let (parts, from) = job.into_rest();
        match &result {
            Ok(()) => self.shelf.drop_parts(parts),
            Err(_) => {
                self.shelf.put_back(bucket, parts, &from);
                self.open(&mut self.notes(), bucket);
            }
        }
        result
    }

    /// Makes room: keeps states in a form that takes less, if nothing is on disk yet; whether there is enough then.
    fn pack(&mut self, hand: &mut Hand<S>) -> Result<bool, Why> {
        let is_now = !self.form.is_packed() && self.shelf.is_empty() && self.skip == 0;
        if !is_now {
            return Ok(false);
        }
        let Self { system, pool, clock, .. } = self;
        let mut learner = Learner::default();
        let mut before = 0;
        pool.each(|it| {
            learner.note(system.layout(it.state), it.state);
            before += it.state.len();
        });
        // States that are farther away differ in more.
        let note = |state: &[u8]| learner.note(system.layout(state), state);
        walk(*system, &mut hand.scratch, &self.memory, note, || clock.check())
            .map_err(Why::Limit)?;
        let form = Form::new(&learner);
        let written = &mut hand.state;
        let mut after = 0;
        pool.each(|it| after += form.encode(*system, it.state, written).len());
        if after > before / 4 * 3 {
            return Ok(false);
        }
        let write = |state: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(form.encode(*system, state, written));
        };
        let buckets = pool.rewrite(write);
        self.form = form;
        let mut notes = self.notes();
        buckets.into_iter().for_each(|bucket| self.open(&mut notes, bucket));
        drop(notes);
        Ok(self.pool.is_half_empty())
    }

    /// Makes room: writes to disk what is only in memory.
    fn spill(&mut self, keeps_old: bool) -> Result<(), Why> {
        self.shelf.begin_filters(self.request.limits.memory);
        let buckets = self.shelf.spill(&mut self.pool, self.request.threads, keeps_old);
        let buckets = buckets.map_err(Why::Disk)?;
        let mut notes = self.notes();
        buckets.into_iter().for_each(|bucket| self.open(&mut notes, bucket));
        drop(notes);
        if self.shelf.is_due() {
            self.save().map_err(Why::Disk)?;
        }
        self.clock.check().map_err(Why::Limit)
    }

    /// Writes everything to disk, so that another search can go on from here.
    fn save_all(&mut self) -> Result<(), Error> {
        self.shelf.spill(&mut self.pool, self.request.threads, false)?;
        self.save()
    }

    /// Puts together what was found.
    fn finish(&mut self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        let (examples, mut counts, left_out, lowest) = {
            let mut notes = self.notes();
            let findings = std::mem::replace(&mut notes.findings, Findings::new());
            let lowest = notes.open.keys().next().map_or(NEVER, |&(_, rank)| rank);
            (findings.into_examples(), notes.counts, notes.left_out, lowest)
        };
        let on_shelf = self.shelf.memory();
        let all = stopped.is_none();
        let Reach { proves, is_sure, .. } = self.reach;
        let found = !examples.is_empty();
        let mut stopped = if all && proves && found { Some(Stopped::Errors) } else { stopped };
        let mut examples = examples;
        examples.sort_by(|one, other| one.path.order(&other.path));
        keep_shortest(&mut examples, self.request.errors);
        let (mut errors, mut met) = (Vec::new(), 0);
        let paths = self.paths_to(examples.iter().map(|it| &it.path), scratch);
        // To make runs of them may take compiled code once more.
        self.pool.clear();
        trim();
        for (example, path) in examples.into_iter().zip(paths) {
            let path = path.unwrap_or_else(|failure| {
                self.failure.get_or_insert(failure);
                stopped = Some(Limit::Disk.into());
                None
            });
            let Some(path) = path else {
                met += example.occurrences;
                continue;
            };
            let total = path.last().map_or(0, |(_, length)| length + example.path.by);
            let path = path.into_iter();
            let run = rebuild(self.system, scratch, path, example.violation, total, false);
            let is_runtime = matches!(example.violation, Violation::Runtime(..));
            let is_proved = all && proves && !(left_out && is_runtime);
            errors.push(Found {
                violation: example.violation,
                steps: run.steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest: is_sure && total <= lowest || is_proved,
            });
        }
        counts.memory = self.pool.peak() + self.memory.peak() + on_shelf;
        let truncated = stopped.is_none() && self.notes().truncated;
        Outcome { errors, met, counts, stopped, truncated }
    }
}
