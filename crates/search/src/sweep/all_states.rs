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

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_store::{Changed, Flat, Key, Look, Packets};

use super::form::Form;
use super::known::{Fresh, Known};
use super::remembered::{MAX_WORDS, Moves, Remembered};
use super::scouts::{FIRST_TURN, next_turn};
use super::walks::walk;
use crate::limits::{Clock, Limit, Memory, Watch, unless_hit};
use crate::outcome::{Counts, Outcome, Place, Progress, Request, Stopped};

/// How many states are expanded together.
pub(super) const BATCH: usize = 64;

/// Room for so many successors that are not looked up yet.
const SUCCESSORS: usize = 512;

/// Successors in a parcel, and masks with which they are packed at most. Small parcels take longer to send than to fill.
const PARCEL: usize = 512;
const KINDS: usize = 8;

/// A model with fewer states is not worth a second thread.
const FEW_STATES: u64 = 4_000;

/// Threads stop to work together where fewer states wait than this each time that so many of them had nothing to do, and
/// one does it all until so many wait: to send states to and fro one by one takes longer than to expand them.
const FEW_WAIT: u64 = 64;
const OFTEN_IDLE: u32 = 64;
const MANY_WAIT: u64 = 256;

/// How long a thread without work waits until it looks again whether there is more to do.
const NAP: Duration = Duration::from_millis(1);

/// How often a thread without work looks for a parcel before it sleeps: one mostly comes sooner than it would wake up.
const SPINS: u32 = 2_000;

/// More threads would have too many parcels for each other.
const MAX_THREADS: usize = 128;

/// Memory in all without which a thread is not worth the while; what the first one takes for itself,
/// and what each of the others does, for which the allocator keeps memory of its own.
const THREAD_BYTES: u64 = 16 << 20;
const FIRST_BYTES: u64 = 1 << 20;
const OTHER_BYTES: u64 = 3 << 20;

/// What is freed after looks for an error in other ways and the allocator keeps.
const PROBED_BYTES: u64 = 1 << 20;

/// Looks for an error in another way, after so many states, with a share in the memory.
pub(super) type Probe<'a, S> = dyn FnMut(&mut S, u64, &Memory) -> Option<(Place, u64)> + 'a;

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
    probe: Option<&mut Probe<'_, S::Scratch>>,
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
        renews: AtomicBool::new(false),
        pauses: AtomicBool::new(false),
        counts_errors: request.errors == 0,
        told: (0..threads).map(|_| Told::default()).collect(),
    };
    let remembered = Remembered::for_threads(threads, &memory, system.reduces());
    let mut workers: Vec<_> = remembered
        .enumerate()
        .map(|(number, remembered)| Worker::new(&shared, number, form(), remembered))
        .collect();
    let stopped = run(&shared, &mut workers, scratch, probe, &mut watch).err();
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
pub(super) fn affordable(threads: usize, memory: &Memory) -> usize {
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
    probe: Option<&mut Probe<'_, S::Scratch>>,
    watch: &mut Watch<'_>,
) -> Result<(), Limit> {
    let mut initial = Vec::new();
    shared.system.initial(&mut initial);
    let hash = workers[0].known.add(&initial)?;
    let mut fresh = Fresh::new(&shared.memory);
    workers[0].known.move_last(&mut fresh)?;
    workers[shared.owner(hash)].known.settle_all(&fresh)?;

    let (mut walked, mut probed) = (false, false);
    // All threads wait meanwhile, so that with many of them there must be more states.
    let many = workers.len() as u64;
    let mut probed_at = if probe.is_some() { FIRST_TURN } else { u64::MAX };
    let mut probe = probe;
    while !shared.is_done() {
        shared.pauses.store(false, Ordering::Relaxed);
        if let Some(probe) = &mut probe
            && shared.counts().states >= probed_at.saturating_mul(many)
        {
            probed = probed || shared.memory.take(PROBED_BYTES).is_ok();
            if probed && let Some(error) = probe(scratch, probed_at, &shared.memory) {
                workers[0].errors.push(error);
                shared.over.store(true, Ordering::Relaxed);
                break;
            }
            probed_at = next_turn(probed_at);
        }
        // One thread does the work of all until it is worth a thread for each.
        let is_little = shared.counts().states < FEW_STATES || shared.waiting() < MANY_WAIT;
        if workers.len() == 1 || is_little {
            for worker in &mut *workers {
                if !worker.turn(scratch)? {
                    worker.rest();
                }
                watch.tick(&shared.counts(), 0, &shared.memory)?;
            }
        } else {
            run_together(shared, workers, scratch, probed_at.saturating_mul(many), watch)?;
        }
        if shared.renews.swap(false, Ordering::Relaxed) && !shared.is_done() {
            if !std::mem::replace(&mut walked, true) {
                let note = |state: &[u8]| workers[0].known.note(state);
                let tick = || watch.tick(&shared.counts(), 0, &shared.memory);
                walk(shared.system, scratch, &shared.memory, note, tick)?;
            }
            renew(shared, workers)?;
        }
    }
    Ok(())
}

/// Runs a thread for each worker until all is done, states shall have another form, or there are so many of them.
fn run_together<S: System, F: Form>(
    shared: &Shared<'_, S>,
    workers: &mut [Worker<'_, '_, S, F>],
    scratch: &mut S::Scratch,
    states: u64,
    watch: &mut Watch<'_>,
) -> Result<(), Limit> {
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
        let mut ended = first.work(scratch, |shared| {
            let counts = shared.counts();
            if counts.states >= states {
                shared.pauses.store(true, Ordering::Relaxed);
            }
            watch.tick(&counts, 0, &shared.memory)
        });
        for thread in threads {
            let (its_scratch, its_end) =
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            shared.system.absorb(scratch, its_scratch);
            ended = ended.and(its_end);
        }
        ended
    })
}

/// Gives states another form, if there is a better one.
fn renew<S: System, F: Form>(
    shared: &Shared<'_, S>,
    workers: &mut [Worker<'_, '_, S, F>],
) -> Result<(), Limit> {
    // No state may be on its way.
    workers.iter_mut().for_each(|worker| worker.send_if(1));
    for worker in &mut *workers {
        while let Some(parcel) = shared.inboxes[worker.number].take() {
            worker.receive(parcel)?;
        }
    }
    let mut known: Vec<_> = workers.iter_mut().map(|worker| &mut worker.known).collect();
    Known::renew(&mut known, |hash| shared.owner(hash))
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
    /// Whether it is time to look for a better form of states.
    renews: AtomicBool,
    /// Whether the threads are to wait, because an error is looked for in another way, or there is little to do.
    pauses: AtomicBool,
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
    /// How many states wait, or more than a few.
    waiting: AtomicU64,
}

impl<S> Shared<'_, S> {
    /// Whose a state with such a hash of its form is.
    #[inline]
    fn owner(&self, hash: u64) -> usize {
        Flat::owner(hash, self.inboxes.len())
    }

    fn is_done(&self) -> bool {
        self.work.load(Ordering::Acquire) == 0 || self.over.load(Ordering::Relaxed)
    }

    /// Whether the threads are to stop for a while.
    fn rests(&self) -> bool {
        self.renews.load(Ordering::Relaxed) || self.pauses.load(Ordering::Relaxed)
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts { transitions: 1, ..Counts::default() };
        for told in &self.told {
            counts.states += told.states.load(Ordering::Relaxed);
            counts.transitions += told.transitions.load(Ordering::Relaxed);
        }
        counts
    }

    /// How many states wait, or more than a few.
    fn waiting(&self) -> u64 {
        self.told.iter().map(|told| told.waiting.load(Ordering::Relaxed)).sum()
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
    post: Mutex<Post>,
    /// Whether there may be any.
    any: AtomicBool,
    wake: Condvar,
}

#[derive(Default)]
struct Post {
    parcels: Vec<Parcel>,
    /// Whether the thread sleeps until one comes: to wake it takes longer than to put a parcel there.
    sleeps: bool,
}

impl Inbox {
    fn post(&self) -> MutexGuard<'_, Post> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, parcel: Parcel) {
        let mut post = self.post();
        post.parcels.push(parcel);
        self.any.store(true, Ordering::Release);
        if post.sleeps {
            drop(post);
            self.wake.notify_one();
        }
    }

    fn take(&self) -> Option<Parcel> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut post = self.post();
        let parcel = post.parcels.pop();
        self.any.store(!post.parcels.is_empty(), Ordering::Relaxed);
        parcel
    }

    /// Waits for a parcel, not for ever.
    fn wait(&self) {
        for _ in 0..SPINS {
            if self.any.load(Ordering::Relaxed) {
                return;
            }
            std::hint::spin_loop();
        }
        let mut post = self.post();
        if post.parcels.is_empty() {
            post.sleeps = true;
            let waited = self.wake.wait_timeout(post, NAP);
            waited.unwrap_or_else(PoisonError::into_inner).0.sleeps = false;
        }
    }
}

/// Successors for a thread.
struct Parcel {
    /// By mask, in no order; some may be empty.
    packets: Vec<Packets>,
    /// Those that are not packed with one.
    others: Fresh,
}

impl Parcel {
    fn new(memory: &Memory) -> Self {
        Self { packets: Vec::new(), others: Fresh::new(memory) }
    }

    /// How many successors.
    fn len(&self) -> usize {
        self.packets.iter().map(Packets::len).sum::<usize>() + self.others.len()
    }

    /// Exchanges packets for those to which such of a mask can be added; false if there are too many kinds of them.
    fn exchange(&mut self, packets: &mut Packets, mask: usize, memory: &Memory) -> bool {
        let same = |other: &Packets| other.mask() == mask && !other.is_empty();
        let other = match self.packets.iter().position(same) {
            Some(other) => other,
            None => match self.packets.iter().position(Packets::is_empty) {
                Some(empty) => empty,
                None if self.packets.len() >= KINDS => return false,
                None => {
                    self.packets.push(Packets::new(memory.budget()));
                    self.packets.len() - 1
                }
            },
        };
        std::mem::swap(&mut self.packets[other], packets);
        true
    }

    fn clear(&mut self) {
        self.packets.iter_mut().for_each(Packets::clear);
        self.others.clear();
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
    remembered: Remembered,
    /// Actors of it of which nothing is remembered.
    unknown: Vec<usize>,
    /// Successors whose owner was not asked for yet, packed with one mask.
    made: Packets,
    /// By thread: successors that belong to it and are not looked up yet, packed with one mask.
    packets: Vec<Packets>,
    /// By thread: others that belong to it, if it is another one.
    parcels: Vec<Parcel>,
    /// Successors in a form that is not theirs.
    strays: Vec<u64>,
    /// Parcels to be filled again.
    empty: Vec<Parcel>,
    counts: Counts,
    errors: Vec<(Place, u64)>,
}

impl<'s, 'a, S: System, F: Form> Worker<'s, 'a, S, F> {
    fn new(shared: &'s Shared<'a, S>, number: usize, form: F, remembered: Remembered) -> Self {
        let memory = &shared.memory;
        Self {
            shared,
            number,
            active: true,
            known: Known::new(form, memory),
            state: Vec::new(),
            remembered,
            unknown: Vec::new(),
            made: Packets::new(memory.budget()),
            packets: shared.inboxes.iter().map(|_| Packets::new(memory.budget())).collect(),
            parcels: shared.inboxes.iter().map(|_| Parcel::new(memory)).collect(),
            strays: Vec::new(),
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
        let mut idle = 0;
        let ended = loop {
            if shared.is_done() || shared.rests() {
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
                        idle = if shared.waiting() < FEW_WAIT { idle + 1 } else { 0 };
                        if idle == OFTEN_IDLE {
                            shared.pauses.store(true, Ordering::Relaxed);
                        }
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
        if let Some(parcel) = shared.inboxes[self.number].take() {
            self.receive(parcel)?;
        } else if self.known.all_done() {
            return Ok(false);
        } else {
            self.expand(scratch)?;
        }
        let told = &shared.told[self.number];
        told.states.store(self.known.len(), Ordering::Relaxed);
        told.transitions.store(self.counts.transitions, Ordering::Relaxed);
        told.waiting.store(self.known.waiting(), Ordering::Relaxed);
        if self.known.is_due() {
            shared.renews.store(true, Ordering::Relaxed);
        }
        Ok(true)
    }

    /// Looks up what another thread sent.
    fn receive(&mut self, mut parcel: Parcel) -> Result<(), Limit> {
        for packets in &parcel.packets {
            self.known.insert(packets)?;
        }
        self.known.settle_all(&parcel.others)?;
        // It is kept, and counted: what another thread has allocated does not leave the process when it is freed, and
        // there were many if this thread had to wait.
        parcel.clear();
        self.empty.push(parcel);
        // The parcel is not on its way any more; a thread that had no work has some instead.
        if self.active {
            self.shared.work.fetch_sub(1, Ordering::AcqRel);
        }
        self.active = true;
        Ok(())
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
        let mut left = BATCH;
        while left > 0 && !self.known.all_done() {
            let expanded = match self.remembers() {
                Some((mask, 1)) => self.expand_packed::<1>(mask, scratch, left)?,
                Some((mask, 2)) => self.expand_packed::<2>(mask, scratch, left)?,
                Some((mask, 3)) => self.expand_packed::<3>(mask, scratch, left)?,
                Some((mask, 4)) => self.expand_packed::<4>(mask, scratch, left)?,
                Some((mask, 5)) => self.expand_packed::<5>(mask, scratch, left)?,
                Some((mask, 6)) => self.expand_packed::<6>(mask, scratch, left)?,
                Some((mask, 7)) => self.expand_packed::<7>(mask, scratch, left)?,
                Some((mask, MAX_WORDS)) => self.expand_packed::<MAX_WORDS>(mask, scratch, left)?,
                _ => self.expand_last(scratch)?,
            };
            if self.shared.over.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.counts.expanded += expanded as u64;
            left -= expanded;
        }
        let settled = self.known.settle(|_| Ok(()));
        // Nobody shall wait while there is work.
        let full = if self.shared.idle.load(Ordering::Relaxed) > 0 { 1 } else { PARCEL };
        self.send_if(full);
        settled
    }

    /// Expands the last state that waits; that is one.
    fn expand_last(&mut self, scratch: &mut S::Scratch) -> Result<usize, Limit> {
        self.known.next(&mut self.state);
        self.known.pop();
        self.expand_state(scratch, S::expand)?;
        Ok(1)
    }

    /// Expands the state at hand in one of the ways there are.
    fn expand_state(
        &mut self,
        scratch: &mut S::Scratch,
        expand: impl FnOnce(&S, &[u8], &mut S::Scratch, &mut dyn Sink) -> Flow,
    ) -> Result<(), Limit> {
        let system = self.shared.system;
        self.counts.state_bytes = self.counts.state_bytes.max(self.state.len() as u64);
        let (state, mut expansion) = self.expansion();
        let flow = expand(system, state, scratch, &mut expansion);
        let Expansion { transitions, limit, .. } = expansion;
        self.counts.transitions += transitions;
        if flow.is_break() && limit.is_none() && !self.errors.is_empty() {
            return Ok(());
        }
        self.shared.clock.broken_off(limit, flow)
    }

    /// The state at hand, and who takes its successors.
    fn expansion(&mut self) -> (&[u8], Expansion<'_, 'a, S, F>) {
        let expansion = Expansion {
            shared: self.shared,
            number: self.number,
            known: &mut self.known,
            parcels: &mut self.parcels,
            errors: &mut self.errors,
            transitions: 0,
            limit: None,
        };
        (&self.state, expansion)
    }

    /// If moves from states that are packed as the last one are remembered: with which mask, and how many
    /// words they have.
    fn remembers(&mut self) -> Option<(usize, usize)> {
        let (form, (packing, renewals)) = (self.known.top()?, self.known.packing()?);
        let mask = packing.mask(form).filter(|_| form.len() <= MAX_WORDS)?;
        let system = self.shared.system;
        let begun = self.remembered.begin(system, (packing, renewals), mask, form);
        begun.then_some((mask, form.len()))
    }

    /// Expands some states packed with one mask; how many.
    fn expand_packed<const W: usize>(
        &mut self,
        mask: usize,
        scratch: &mut S::Scratch,
        states: usize,
    ) -> Result<usize, Limit> {
        for number in 0..self.packets.len() {
            let Self { packets, parcels, shared, .. } = self;
            let packets = &mut packets[number];
            if !packets.suits(mask) && !parcels[number].exchange(packets, mask, &shared.memory) {
                self.send(number);
            }
            self.packets[number].begin(mask);
        }
        self.made.begin(mask);
        let mut forms = [Key { words: [0; W], asleep: 0 }; BATCH];
        let taken = self.known.take(mask, &mut forms[..states]);
        let mut rest = &forms[..taken];
        loop {
            let (done, look) = self.apply(mask, rest)?;
            let Some((form, others)) = rest[done..].split_first() else {
                break;
            };
            if look == Look::Full && !self.made.is_empty() {
                self.look_up::<W>()?;
                rest = &rest[done..];
                continue;
            }
            rest = others;
            let any = self.expand_partly(mask, form, look, scratch)?;
            if any != Some(true) {
                self.known.decode(&form.words, &mut self.state);
            }
            match any {
                Some(true) => {}
                Some(false) => self.expand_state(scratch, S::expand_stuck)?,
                None => self.expand_state(scratch, S::expand)?,
            }
            if self.shared.over.load(Ordering::Relaxed) {
                return Ok(taken);
            }
        }
        self.look_up::<W>()?;
        Ok(taken)
    }

    /// Makes the moves of states packed with a mask that are all remembered, until there is a state of
    /// which they are not; how many, and how the look for those of that state ended.
    fn apply<const W: usize>(
        &mut self,
        mask: usize,
        forms: &[Key<W>],
    ) -> Result<(usize, Look), Limit> {
        self.made.make_room::<W>(SUCCESSORS)?;
        let mut changed = Changed { packets: &mut self.made, others: &mut self.strays, count: 0 };
        let applied = self.remembered.apply(mask, forms, &mut changed);
        self.counts.transitions += changed.count as u64;
        self.add_strays::<W>()?;
        Ok(applied)
    }

    /// Adds successors in a form that is not theirs.
    #[inline]
    fn add_strays<const W: usize>(&mut self) -> Result<(), Limit> {
        for form in std::mem::take(&mut self.strays).as_chunks::<W>().0 {
            self.known.decode(form, &mut self.state);
            let (state, mut expansion) = self.expansion();
            expansion.add(state)?;
        }
        Ok(())
    }

    /// Gives the successors made so far to their owners, and looks up its own.
    fn look_up<const W: usize>(&mut self) -> Result<(), Limit> {
        self.made.share_out::<W>(&mut self.packets)?;
        let own = &mut self.packets[self.number];
        self.known.insert(own)?;
        own.clear();
        Ok(())
    }

    /// Expands a state packed with a mask of which not all moves are remembered; whether it has any. None:
    /// it must be expanded as a whole.
    fn expand_partly<const W: usize>(
        &mut self,
        mask: usize,
        form: &Key<W>,
        look: Look,
        scratch: &mut S::Scratch,
    ) -> Result<Option<bool>, Limit> {
        let Some((packing, _)) = self.known.packing() else {
            return Ok(None);
        };
        let system = self.shared.system;
        let moves = self.remembered.find(system, packing, mask, &form.words, look, scratch);
        let Some(Moves { count, unknown }) = moves else {
            return Ok(None);
        };
        self.unknown.clear();
        self.unknown.extend_from_slice(unknown);
        let mut any = count > 0;
        if !self.unknown.is_empty() {
            self.known.decode(&form.words, &mut self.state);
            match self.expand_some(scratch)? {
                Some(others) => any |= others,
                None => return Ok(None),
            }
        }
        if count > 0 {
            self.made.make_room::<W>(count)?;
            let mut changed =
                Changed { packets: &mut self.made, others: &mut self.strays, count: 0 };
            self.remembered.make(mask, form, &mut changed);
            self.counts.transitions += changed.count as u64;
            self.add_strays::<W>()?;
        }
        Ok(Some(any))
    }

    /// Makes the moves of those actors of the state at hand of which nothing is remembered; whether there
    /// are any. None: it must be expanded as a whole.
    fn expand_some(&mut self, scratch: &mut S::Scratch) -> Result<Option<bool>, Limit> {
        let system = self.shared.system;
        self.counts.state_bytes = self.counts.state_bytes.max(self.state.len() as u64);
        let unknown = std::mem::take(&mut self.unknown);
        let (state, mut expansion) = self.expansion();
        let some = system.expand_some(state, &unknown, scratch, &mut expansion);
        let Expansion { transitions, limit, .. } = expansion;
        self.unknown = unknown;
        self.counts.transitions += transitions;
        match some {
            ControlFlow::Continue(any) => Ok(any),
            ControlFlow::Break(()) => {
                self.shared.clock.broken_off(limit, Flow::Break(()))?;
                Ok(None)
            }
        }
    }

    /// Sends the parcels with at least so many successors.
    fn send_if(&mut self, successors: usize) {
        let own = self.number;
        for number in (0..self.packets.len()).filter(|&number| number != own) {
            if self.packets[number].len() + self.parcels[number].len() >= successors {
                self.send(number);
            }
        }
    }

    fn send(&mut self, number: usize) {
        let memory = &self.shared.memory;
        let mut empty = self.empty.pop().unwrap_or_else(|| Parcel::new(memory));
        let packets = empty.packets.pop().unwrap_or_else(|| Packets::new(memory.budget()));
        let mut parcel = std::mem::replace(&mut self.parcels[number], empty);
        let packets = std::mem::replace(&mut self.packets[number], packets);
        // There may be more of the same kind.
        self.packets[number].begin(packets.mask());
        parcel.packets.push(packets);
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
    parcels: &'e mut [Parcel],
    errors: &'e mut Vec<(Place, u64)>,
    transitions: u64,
    limit: Option<Limit>,
}

impl<S, F: Form> Expansion<'_, '_, S, F> {
    fn add(&mut self, state: &[u8]) -> Result<(), Limit> {
        let owner = self.shared.owner(self.known.add(state)?);
        if owner != self.number {
            self.known.move_last(&mut self.parcels[owner].others)?;
        }
        Ok(())
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
