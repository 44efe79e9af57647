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
//! verifier*, 1997). Nothing is shared but the parcels. The work left is counted: states that wait and
//! successors on their way; when there is none, all is done.
//!
//! A sweep tells nothing of the order in which states were met, so it has no runs to show. It counts
//! errors if it is to see everything, and otherwise gives up at the first: another search is to find a
//! run to it.
//!
//! *Invariant*: each reachable state is inserted once, by its owner, and expanded once. So the counts
//! of a sweep that ends do not depend on the number of threads.
//!
//! *Cost*: besides the table, the waiting states, and while threads work together some parcels.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_store::Flat;

use super::form::Form;
use crate::buffer::Buffer;
use crate::limits::{Clock, Limit, Memory, Watch, unless_hit};
use crate::outcome::{Counts, Outcome, Place, Progress, Request, Stopped};

/// How many states are expanded together.
pub(super) const BATCH: usize = 32;

/// For how many successors what will be looked at is brought into the cache together.
const TOGETHER: usize = 32;

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

/// Memory in all without which a thread is not worth the while, and what it takes for itself.
const THREAD_BYTES: u64 = 16 << 20;
const OWN_BYTES: u64 = 1 << 20;

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
    form: &F,
    memory: Memory,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Swept {
    let threads = affordable(request.threads, &memory);
    // What is not counted otherwise: stacks, and what systems and the allocator keep for a thread.
    let reserve = OWN_BYTES * threads as u64;
    let reserved = memory.take(reserve).is_ok();
    let mut watch = Watch::new(&request.limits, progress);
    let shared = Shared {
        system,
        form,
        memory: memory.clone(),
        clock: watch.clock(),
        inboxes: (0..threads).map(|_| Inbox::default()).collect(),
        work: AtomicI64::new(0),
        idle: AtomicUsize::new(0),
        over: AtomicBool::new(false),
        counts_errors: request.errors == 0,
        states: AtomicU64::new(0),
        transitions: AtomicU64::new(1),
    };
    let mut workers: Vec<_> = (0..threads).map(|number| Worker::new(&shared, number)).collect();
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
        counts.states += worker.set.len();
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
    shared: &Shared<'_, S, F>,
    workers: &mut [Worker<'_, '_, S, F>],
    scratch: &mut S::Scratch,
    watch: &mut Watch<'_>,
) -> Result<(), Limit> {
    let mut initial = Vec::new();
    shared.system.initial(&mut initial);
    let mut room = F::Room::default();
    let initial = shared.form.encode(&initial, &mut room)?;
    let hash = Flat::hash(initial);
    workers[shared.owner(hash)].add(initial, hash)?;
    shared.work.store(1, Ordering::Relaxed);

    // One thread does the work of all until it is worth a thread for each.
    while workers.len() == 1 || shared.states.load(Ordering::Relaxed) < FEW_STATES {
        for worker in &mut *workers {
            if shared.is_done() {
                return Ok(());
            }
            if !worker.turn(scratch)? {
                worker.send_if(1);
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
struct Shared<'a, S, F> {
    system: &'a S,
    form: &'a F,
    memory: Memory,
    clock: Clock<'a>,
    /// By thread.
    inboxes: Vec<Inbox>,
    /// States that wait and successors on their way.
    work: AtomicI64,
    /// How many threads wait for work.
    idle: AtomicUsize,
    /// Whether a limit was hit, or an error met that is enough.
    over: AtomicBool,
    /// Whether the sweep goes on after an error.
    counts_errors: bool,
    /// As far as threads have told, for progress.
    states: AtomicU64,
    transitions: AtomicU64,
}

impl<S, F> Shared<'_, S, F> {
    /// Whose a state is: by bits of its hash that do not choose its place in a table.
    fn owner(&self, hash: u64) -> usize {
        ((hash & 0xfff) as usize * self.inboxes.len()) >> 12
    }

    fn is_done(&self) -> bool {
        self.work.load(Ordering::Acquire) == 0 || self.over.load(Ordering::Relaxed)
    }

    fn counts(&self) -> Counts {
        let states = self.states.load(Ordering::Relaxed);
        let transitions = self.transitions.load(Ordering::Relaxed);
        Counts { states, transitions, ..Counts::default() }
    }

    fn wake_all(&self) {
        self.inboxes.iter().for_each(|inbox| inbox.wake.notify_one());
    }
}

/// Calls all threads off if the one that has it panics: its work will never be done.
struct CallOff<'s, 'a, S, F>(&'s Shared<'a, S, F>);

impl<S, F> Drop for CallOff<'_, '_, S, F> {
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
    wake: Condvar,
}

impl Inbox {
    fn put(&self, parcel: Successors) {
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner).push(parcel);
        self.wake.notify_one();
    }

    fn take(&self) -> Option<Successors> {
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Waits for a parcel, not for ever.
    fn wait(&self) {
        let parcels = self.parcels.lock().unwrap_or_else(PoisonError::into_inner);
        if parcels.is_empty() {
            drop(self.wake.wait_timeout(parcels, NAP));
        }
    }
}

/// States in their form, each with its hash.
struct Successors {
    bytes: Buffer<u8>,
    /// Where each ends, and its hash.
    ends: Buffer<(usize, u64)>,
}

impl Successors {
    fn new(memory: &Memory) -> Self {
        Self { bytes: Buffer::new(memory), ends: Buffer::new(memory) }
    }

    fn push(&mut self, state: &[u8], hash: u64) -> Result<(), Limit> {
        self.bytes.extend_from_slice(state)?;
        self.ends.push((self.bytes.len(), hash))
    }

    fn get(&self, index: usize) -> (&[u8], u64) {
        let start = if index == 0 { 0 } else { self.ends[index - 1].0 };
        let (end, hash) = self.ends[index];
        (&self.bytes[start..end], hash)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// A thread's part.
struct Worker<'s, 'a, S, F: Form> {
    shared: &'s Shared<'a, S, F>,
    number: usize,
    room: F::Room,
    /// The state that is expanded, if it was made from its form.
    state: Vec<u8>,
    set: Flat,
    waiting: Stack,
    /// Successors that belong to this thread.
    own: Successors,
    /// By thread: successors that belong to others.
    parcels: Vec<Successors>,
    /// Parcels to be filled again.
    empty: Vec<Successors>,
    counts: Counts,
    errors: Vec<(Place, u64)>,
}

impl<'s, 'a, S: System, F: Form> Worker<'s, 'a, S, F> {
    fn new(shared: &'s Shared<'a, S, F>, number: usize) -> Self {
        let memory = &shared.memory;
        Self {
            shared,
            number,
            room: F::Room::default(),
            state: Vec::new(),
            set: Flat::new(F::DENSITY, memory.budget()),
            waiting: Stack::new(memory),
            own: Successors::new(memory),
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
        mut look: impl FnMut(&Shared<'a, S, F>) -> Result<(), Limit>,
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
                    self.send_if(1);
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
        let states = self.set.len();
        let transitions = self.counts.transitions;
        let finished = if let Some(mut parcel) = shared.inboxes[self.number].take() {
            self.insert(&parcel)?;
            let finished = parcel.ends.len() as u64;
            if self.empty.len() < EMPTY_PARCELS {
                parcel.clear();
                self.empty.push(parcel);
            }
            finished
        } else if self.waiting.is_empty() {
            return Ok(false);
        } else {
            self.expand(scratch)?
        };
        let new = self.set.len() - states;
        shared.states.fetch_add(new, Ordering::Relaxed);
        shared.transitions.fetch_add(self.counts.transitions - transitions, Ordering::Relaxed);
        let before = shared.work.fetch_add(new as i64 - finished as i64, Ordering::AcqRel);
        if before + new as i64 == finished as i64 {
            shared.wake_all();
        }
        Ok(true)
    }

    /// Expands some states; how many.
    fn expand(&mut self, scratch: &mut S::Scratch) -> Result<u64, Limit> {
        let mut expanded = 0;
        let mut on_their_way = 0;
        while expanded < BATCH as u64
            && let Some(waiting) = self.waiting.top()
        {
            let state = self.shared.form.decode(waiting, &mut self.state, &mut self.room);
            self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
            let mut expansion = Expansion {
                shared: self.shared,
                number: self.number,
                room: &mut self.room,
                own: &mut self.own,
                parcels: &mut self.parcels,
                errors: &mut self.errors,
                transitions: 0,
                sent: 0,
                limit: None,
            };
            let flow = self.shared.system.expand(state, scratch, &mut expansion);
            let Expansion { transitions, sent, limit, .. } = expansion;
            self.counts.transitions += transitions;
            on_their_way += sent;
            if flow.is_break() && limit.is_none() && !self.errors.is_empty() {
                return Ok(expanded);
            }
            self.shared.clock.broken_off(limit, flow)?;
            self.waiting.pop();
            self.counts.expanded += 1;
            expanded += 1;
        }
        let own = std::mem::replace(&mut self.own, Successors::new(&self.shared.memory));
        let inserted = self.insert(&own);
        self.own = own;
        self.own.clear();
        // Before anybody can receive them.
        self.shared.work.fetch_add(on_their_way, Ordering::AcqRel);
        // Nobody shall wait while there is work.
        let full = if self.shared.idle.load(Ordering::Relaxed) > 0 { 1 } else { PARCEL };
        self.send_if(full);
        inserted.map(|()| expanded)
    }

    /// Inserts successors; new ones wait.
    fn insert(&mut self, successors: &Successors) -> Result<(), Limit> {
        let count = successors.ends.len();
        let group = |start: usize| start.min(count)..(start + TOGETHER).min(count);
        let each = |range: Range<usize>| range.map(|index| successors.get(index));
        // Tight loops, so that the processor waits for many at a time.
        each(group(0)).for_each(|(state, hash)| self.set.prefetch(state.len(), hash));
        for start in (0..count).step_by(TOGETHER) {
            let now = group(start);
            each(now.clone()).for_each(|(state, hash)| self.set.prefetch_key(state.len(), hash));
            let next = group(start + TOGETHER);
            each(next).for_each(|(state, hash)| self.set.prefetch(state.len(), hash));
            for (state, hash) in each(now) {
                self.add(state, hash)?;
            }
        }
        Ok(())
    }

    /// Inserts a state; if it is new, it waits.
    fn add(&mut self, state: &[u8], hash: u64) -> Result<(), Limit> {
        if self.set.insert(state, hash)? {
            self.waiting.push(state)?;
        }
        Ok(())
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
        self.shared.inboxes[number].put(parcel);
    }
}

/// Takes the successors of one state.
struct Expansion<'e, 'a, S, F: Form> {
    shared: &'e Shared<'a, S, F>,
    number: usize,
    room: &'e mut F::Room,
    own: &'e mut Successors,
    parcels: &'e mut [Successors],
    errors: &'e mut Vec<(Place, u64)>,
    transitions: u64,
    /// How many belong to others.
    sent: i64,
    limit: Option<Limit>,
}

impl<S, F: Form> Expansion<'_, '_, S, F> {
    fn add(&mut self, state: &[u8]) -> Result<(), Limit> {
        let state = self.shared.form.encode(state, self.room)?;
        let hash = Flat::hash(state);
        let owner = self.shared.owner(hash);
        if owner == self.number {
            return self.own.push(state, hash);
        }
        self.sent += 1;
        self.parcels[owner].push(state, hash)
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

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.shared.memory.lend(bytes as u64), &mut self.limit)
    }
}

/// Bytes in a chunk, if states are not larger.
const CHUNK: usize = 1 << 16;

/// A stack of states, in chunks that hold whole ones.
pub(super) struct Stack {
    chunks: Vec<Vec<u8>>,
    /// A chunk to be used again.
    spare: Option<Vec<u8>>,
    memory: Memory,
}

impl Stack {
    pub fn new(memory: &Memory) -> Self {
        Self { chunks: Vec::new(), spare: None, memory: memory.clone() }
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn push(&mut self, state: &[u8]) -> Result<(), Limit> {
        let length = state.len() + LENGTH;
        match self.chunks.last_mut() {
            Some(chunk) if chunk.capacity() - chunk.len() >= length => append(chunk, state),
            _ => {
                let mut chunk = self.chunk(length)?;
                append(&mut chunk, state);
                self.chunks.push(chunk);
            }
        }
        Ok(())
    }

    /// An empty chunk with so much room.
    #[cold]
    fn chunk(&mut self, length: usize) -> Result<Vec<u8>, Limit> {
        if let Some(spare) = self.spare.take_if(|spare| spare.capacity() >= length) {
            return Ok(spare);
        }
        let room = length.max(CHUNK);
        self.memory.take(chunk_bytes(room))?;
        Ok(Vec::with_capacity(room))
    }

    /// The last state.
    pub fn top(&self) -> Option<&[u8]> {
        let (rest, length) = self.chunks.last()?.split_last_chunk::<LENGTH>()?;
        Some(&rest[rest.len() - u32::from_le_bytes(*length) as usize..])
    }

    /// Drops the last state.
    pub fn pop(&mut self) {
        let length = self.top().map_or(0, <[u8]>::len) + LENGTH;
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.truncate(chunk.len() - length);
            if chunk.is_empty() {
                let empty = self.chunks.pop();
                let before = std::mem::replace(&mut self.spare, empty);
                if let Some(chunk) = before {
                    self.memory.give_back(chunk_bytes(chunk.capacity()));
                }
            }
        }
    }
}

/// Bytes of the length that follows a state.
const LENGTH: usize = size_of::<u32>();

fn append(chunk: &mut Vec<u8>, state: &[u8]) {
    chunk.extend_from_slice(state);
    chunk.extend_from_slice(&(state.len() as u32).to_le_bytes());
}

/// A chunk, and what its place in the list of chunks may cost while that list doubles.
fn chunk_bytes(room: usize) -> u64 {
    (room + 4 * size_of::<Vec<u8>>()) as u64
}

impl Drop for Stack {
    fn drop(&mut self) {
        let chunks = self.chunks.iter().chain(&self.spare);
        self.memory.give_back(chunks.map(|chunk| chunk_bytes(chunk.capacity())).sum());
    }
}
