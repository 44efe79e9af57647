//! All states in any order: is anything wrong at all?
//!
//! *Idea*: where the order is free, much is spared. States need no numbers, no distances and no
//! parents, and keys can lie in the table itself ([`Flat`]), so that to look one up costs one wait
//! for memory. What waits are the states themselves, on a stack, whose top is in the cache. Some of
//! them are expanded together, and what the successors will look at is brought into the cache before
//! the first of them is looked up.
//!
//! *Threads*: each owns the states whose hash says so, with a table and a stack of its own, and sends
//! successors that belong to others to them, in parcels (Stern and Dill, *Parallelizing the Murφ
//! verifier*, 1997). Nothing is shared but the parcels. Threads that have work and parcels on their way
//! are counted; when there are none, all is done.
//!
//! A sweep tells nothing of the order in which states were met, so it has no runs to show. It counts
//! errors if it is to see everything, and otherwise gives up at the first: another search is to find a
//! run to it.
//!
//! *Invariant*: each reachable state is inserted once, by its owner, and expanded once. So the counts
//! of a sweep that ends do not depend on the number of threads.
//!
//! *Cost*: besides the table, the waiting states, and while threads work together some parcels.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_store::hash;

use super::form::Form;
use super::known::Known;
use crate::buffer::Buffer;
use crate::limits::{Clock, Limit, Memory, Watch, unless_hit};
use crate::outcome::{Counts, Outcome, Place, Progress, Request, Stopped};

/// How many states are expanded together.
pub(super) const BATCH: usize = 32;

/// Successors in a parcel.
const PARCEL: usize = 512;

/// Empty parcels that a thread keeps.
const EMPTY_PARCELS: usize = 16;

/// A model with fewer states is not worth a second thread.
const FEW_STATES: u64 = 20_000;

/// How long a thread without work waits until it looks again whether there is more to do.
const NAP: Duration = Duration::from_millis(1);

/// More threads would have too many parcels for each other.
const MAX_THREADS: usize = 128;

/// Memory in all without which a thread is not worth the while; what the first one takes for itself,
/// and what each of the others does, for which the allocator keeps memory of its own.
const THREAD_BYTES: u64 = 16 << 20;
const FIRST_BYTES: u64 = 1 << 19;
const OTHER_BYTES: u64 = 2 << 20;

/// What a sweep found.
pub(super) struct Swept {
    /// An outcome without runs.
    pub outcome: Outcome,
    /// How often each error was met.
    pub errors: Vec<(Place, u64)>,
}

/// Looks at all states, or until something is wrong if one error is enough.
pub(super) fn sweep<S: System, F: Form>(
    system: &S,
    form: impl Fn() -> F,
    memory: Memory,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Swept {
    let threads = affordable(request.threads, &memory);
    // What is not counted otherwise: stacks, and what systems and the allocator keep for a thread.
    let reserve = FIRST_BYTES + OTHER_BYTES * (threads as u64 - 1);
    let reserved = memory.take(reserve).is_ok();
    let mut watch = Watch::new(&request.limits, progress);
    let shared = Shared {
        system,
        memory: memory.clone(),
        clock: watch.clock(),
        inboxes: (0..threads).map(|_| Inbox::default()).collect(),
        work: AtomicUsize::new(threads),
        idle: AtomicUsize::new(0),
        over: AtomicBool::new(false),
        counts_errors: request.errors == 0,
        told: (0..threads).map(|_| Told::default()).collect(),
    };
    let mut workers: Vec<_> =
        (0..threads).map(|number| Worker::new(&shared, number, form())).collect();
    let stopped = run(&shared, &mut workers, scratch, &mut watch).err();
    if reserved {
        memory.give_back(reserve);
    }
    let mut counts = Counts { transitions: 1, memory: memory.peak(), ..Counts::default() };
    let mut errors = Vec::new();
    for worker in &workers {
        for &(place, occurrences) in &worker.errors {
            counts.errors += occurrences;
            tally(&mut errors, place, occurrences);
        }
        counts.states += worker.known.len();
        counts.transitions += worker.counts.transitions;
        counts.expanded += worker.counts.expanded;
        counts.state_bytes = counts.state_bytes.max(worker.counts.state_bytes);
    }
    let stopped = match stopped {
        Some(limit) => Some(Stopped::Limit(limit)),
        None if errors.is_empty() || shared.counts_errors => None,
        None => Some(Stopped::Errors),
    };
    let outcome = Outcome { errors: Vec::new(), met: 0, counts, stopped, truncated: false };
    Swept { outcome, errors }
}

/// How many of the threads asked for there is memory for.
fn affordable(threads: usize, memory: &Memory) -> usize {
    let many = memory.budget().limit() / THREAD_BYTES;
    threads.clamp(1, MAX_THREADS).min(usize::try_from(many).unwrap_or(usize::MAX).max(1))
}

fn tally(errors: &mut Vec<(Place, u64)>, place: Place, occurrences: u64) {
    match errors.iter_mut().find(|(known, _)| *known == place) {
        Some((_, before)) => *before += occurrences,
        None => errors.push((place, occurrences)),
    }
}

fn run<S: System, F: Form>(
    shared: &Shared<'_, S>,
    workers: &mut [Worker<'_, '_, S, F>],
    scratch: &mut S::Scratch,
    watch: &mut Watch<'_>,
) -> Result<(), Limit> {
    let mut initial = Vec::new();
    shared.system.initial(&mut initial);
    let known = &mut workers[shared.owner(&initial)].known;
    known.add(&initial)?;
    known.settle(|_| Ok(()))?;

    // One thread does the work of all until it is worth a thread for each.
    while workers.len() == 1 || shared.counts().states < FEW_STATES {
        for worker in &mut *workers {
            if shared.is_done() {
                return Ok(());
            }
            if !worker.turn(scratch)? {
                worker.rest();
            }
            watch.tick(&shared.counts(), 0, &shared.memory)?;
        }
    }
    let (first, others) = workers.split_first_mut().expect("there is at least one");
    std::thread::scope(|scope| {
        let threads: Vec<_> = others
            .iter_mut()
            .map(|worker| {
                let mut scratch = shared.system.scratch();
                scope.spawn(move || {
                    let ended = worker.work(&mut scratch, |_| Ok(()));
                    (scratch, ended)
                })
            })
            .collect();
        let mut ended =
            first.work(scratch, |shared| watch.tick(&shared.counts(), 0, &shared.memory));
        for thread in threads {
            let (its_scratch, its_end) =
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            shared.system.absorb(scratch, its_scratch);
            ended = ended.and(its_end);
        }
        ended
    })
}

/// What all threads see.
struct Shared<'a, S> {
    system: &'a S,
    memory: Memory,
    clock: Clock<'a>,
    /// By thread.
    inboxes: Vec<Inbox>,
    /// Threads that have work and parcels on their way.
    work: AtomicUsize,
    /// How many threads wait for work.
    idle: AtomicUsize,
    /// Whether a limit was hit, or an error met that is enough.
    over: AtomicBool,
    /// Whether the sweep goes on after an error.
    counts_errors: bool,
    /// By thread: what it has done so far.
    told: Vec<Told>,
}

/// What a thread has done so far, for progress; in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Told {
    states: AtomicU64,
    transitions: AtomicU64,
}

impl<S> Shared<'_, S> {
    /// Whose a state is.
    #[inline]
    fn owner(&self, state: &[u8]) -> usize {
        match self.inboxes.len() {
            1 => 0,
            threads => ((hash(state) >> 32) as usize * threads) >> 32,
        }
    }

    fn is_done(&self) -> bool {
        self.work.load(Ordering::Acquire) == 0 || self.over.load(Ordering::Relaxed)
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts { transitions: 1, ..Counts::default() };
        for told in &self.told {
            counts.states += told.states.load(Ordering::Relaxed);
            counts.transitions += told.transitions.load(Ordering::Relaxed);
        }
        counts
    }

    fn wake_all(&self) {
        self.inboxes.iter().for_each(|inbox| inbox.wake.notify_one());
    }
}

/// Calls all threads off if the one that has it panics: its work will never be done.
struct CallOff<'s, 'a, S>(&'s Shared<'a, S>);

impl<S> Drop for CallOff<'_, '_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.over.store(true, Ordering::Relaxed);
            self.0.wake_all();
        }
    }
}

/// Parcels for a thread.
#[derive(Default)]
struct Inbox {
    parcels: Mutex<Vec<Successors>>,
    /// Whether there may be any.
    any: AtomicBool,
    wake: Condvar,
}

impl Inbox {
    fn put(&self, parcel: Successors) {
        let mut parcels = self.parcels.lock().unwrap_or_else(PoisonError::into_inner);
        parcels.push(parcel);
        self.any.store(true, Ordering::Release);
        drop(parcels);
        self.wake.notify_one();
    }

    fn take(&self) -> Option<Successors> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut parcels = self.parcels.lock().unwrap_or_else(PoisonError::into_inner);
        let parcel = parcels.pop();
        self.any.store(!parcels.is_empty(), Ordering::Relaxed);
        parcel
    }

    /// Waits for a parcel, not for ever.
    fn wait(&self) {
        let parcels = self.parcels.lock().unwrap_or_else(PoisonError::into_inner);
        if parcels.is_empty() {
            drop(self.wake.wait_timeout(parcels, NAP));
        }
    }
}

/// States as they are, one behind the other.
struct Successors {
    bytes: Buffer<u8>,
    /// Where each ends.
    ends: Buffer<usize>,
}

impl Successors {
    fn new(memory: &Memory) -> Self {
        Self { bytes: Buffer::new(memory), ends: Buffer::new(memory) }
    }

    fn push(&mut self, state: &[u8]) -> Result<(), Limit> {
        self.bytes.extend_from_slice(state)?;
        self.ends.push(self.bytes.len())
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&*self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// A thread's part.
struct Worker<'s, 'a, S, F> {
    shared: &'s Shared<'a, S>,
    number: usize,
    /// Whether it counts among those that have work.
    active: bool,
    known: Known<F>,
    /// The state that is expanded.
    state: Vec<u8>,
    /// By thread: successors that belong to others.
    parcels: Vec<Successors>,
    /// Parcels to be filled again.
    empty: Vec<Successors>,
    counts: Counts,
    errors: Vec<(Place, u64)>,
}

impl<'s, 'a, S: System, F: Form> Worker<'s, 'a, S, F> {
    fn new(shared: &'s Shared<'a, S>, number: usize, form: F) -> Self {
        let memory = &shared.memory;
        Self {
            shared,
            number,
            active: true,
            known: Known::new(form, memory),
            state: Vec::new(),
            parcels: (0..shared.inboxes.len()).map(|_| Successors::new(memory)).collect(),
            empty: Vec::new(),
            counts: Counts::default(),
            errors: Vec::new(),
        }
    }

    /// Works until there is no work left for anybody.
    fn work(
        &mut self,
        scratch: &mut S::Scratch,
        mut look: impl FnMut(&Shared<'a, S>) -> Result<(), Limit>,
    ) -> Result<(), Limit> {
        let shared = self.shared;
        let _call_off = CallOff(shared);
        let ended = loop {
            if shared.is_done() {
                break Ok(());
            }
            let turn = look(shared).and_then(|()| self.turn(scratch));
            match turn {
                Ok(true) => {}
                Ok(false) => {
                    self.rest();
                    if !shared.is_done() {
                        shared.idle.fetch_add(1, Ordering::Relaxed);
                        shared.inboxes[self.number].wait();
                        shared.idle.fetch_sub(1, Ordering::Relaxed);
                    }
                }
                Err(limit) => break Err(limit),
            }
        };
        if ended.is_err() {
            shared.over.store(true, Ordering::Relaxed);
        }
        shared.wake_all();
        ended
    }

    /// Does some of what there is to do; false if there is nothing.
    fn turn(&mut self, scratch: &mut S::Scratch) -> Result<bool, Limit> {
        let shared = self.shared;
        if let Some(mut parcel) = shared.inboxes[self.number].take() {
            parcel.iter().try_for_each(|state| self.known.add(state))?;
            self.known.settle(|_| Ok(()))?;
            if self.empty.len() < EMPTY_PARCELS {
                parcel.clear();
                self.empty.push(parcel);
            }
            // The parcel is not on its way any more; a thread that had no work has some instead.
            if self.active {
                shared.work.fetch_sub(1, Ordering::AcqRel);
            }
            self.active = true;
        } else if self.known.all_done() {
            return Ok(false);
        } else {
            self.expand(scratch)?;
        }
        let told = &shared.told[self.number];
        told.states.store(self.known.len(), Ordering::Relaxed);
        told.transitions.store(self.counts.transitions, Ordering::Relaxed);
        Ok(true)
    }

    /// Has no work until a parcel comes.
    fn rest(&mut self) {
        self.send_if(1);
        if std::mem::take(&mut self.active) && self.shared.work.fetch_sub(1, Ordering::AcqRel) == 1
        {
            self.shared.wake_all();
        }
    }

    /// Expands some states.
    fn expand(&mut self, scratch: &mut S::Scratch) -> Result<(), Limit> {
        for _ in 0..BATCH {
            if !self.known.next(&mut self.state) {
                break;
            }
            self.known.pop();
            self.counts.state_bytes = self.counts.state_bytes.max(self.state.len() as u64);
            let mut expansion = Expansion {
                shared: self.shared,
                number: self.number,
                known: &mut self.known,
                parcels: &mut self.parcels,
                errors: &mut self.errors,
                transitions: 0,
                limit: None,
            };
            let flow = self.shared.system.expand(&self.state, scratch, &mut expansion);
            let Expansion { transitions, limit, .. } = expansion;
            self.counts.transitions += transitions;
            if flow.is_break() && limit.is_none() && !self.errors.is_empty() {
                return Ok(());
            }
            self.shared.clock.broken_off(limit, flow)?;
            self.counts.expanded += 1;
        }
        let settled = self.known.settle(|_| Ok(()));
        // Nobody shall wait while there is work.
        let full = if self.shared.idle.load(Ordering::Relaxed) > 0 { 1 } else { PARCEL };
        self.send_if(full);
        settled
    }

    /// Sends the parcels with at least so many successors.
    fn send_if(&mut self, successors: usize) {
        for number in 0..self.parcels.len() {
            if self.parcels[number].ends.len() >= successors {
                self.send(number);
            }
        }
    }

    fn send(&mut self, number: usize) {
        let empty = self.empty.pop().unwrap_or_else(|| Successors::new(&self.shared.memory));
        let parcel = std::mem::replace(&mut self.parcels[number], empty);
        // Before anybody can receive it.
        self.shared.work.fetch_add(1, Ordering::AcqRel);
        self.shared.inboxes[number].put(parcel);
    }
}

/// Takes the successors of one state.
struct Expansion<'e, 'a, S, F> {
    shared: &'e Shared<'a, S>,
    number: usize,
    known: &'e mut Known<F>,
    parcels: &'e mut [Successors],
    errors: &'e mut Vec<(Place, u64)>,
    transitions: u64,
    limit: Option<Limit>,
}

impl<S, F: Form> Expansion<'_, '_, S, F> {
    fn add(&mut self, state: &[u8]) -> Result<(), Limit> {
        let owner = self.shared.owner(state);
        if owner == self.number {
            return self.known.add(state);
        }
        self.parcels[owner].push(state)
    }
}

impl<S: System, F: Form> Sink for Expansion<'_, '_, S, F> {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        self.transitions += 1;
        let added = self.add(state);
        unless_hit(added, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, _: &[Step]) -> Flow {
        tally(self.errors, Place::of(violation), 1);
        if self.shared.counts_errors {
            return Flow::Continue(());
        }
        self.shared.over.store(true, Ordering::Relaxed);
        Flow::Break(())
    }

    fn needs_steps(&self) -> bool {
        false
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.shared.memory.lend(bytes as u64), &mut self.limit)
    }
}
