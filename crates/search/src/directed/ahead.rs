//! Threads that expand states ahead of their turn.
//!
//! A best-first search takes one state after the other, and what comes of each decides which is next. But
//! most of the work, to compute the successors of a state, to look them up and to estimate how far they are from an
//! error, depends on the state alone. So other threads do that for states that come next in line, and the search
//! takes what is there when it is a state's turn. All else it does itself, also what is under way: whoever
//! waits for another thread may wait long, if there are more threads than processors. Helpers go through the states they
//! are given from the last to the first, so that the search does not do what they are about to do.
//!
//! *Invariant*: all that is decided is decided by the search, in the order in which one thread alone would. What
//! helpers see of lengths may be older than that; but lengths only become shorter, so a run that is not shorter than
//! one known then never will be, and all else is looked at again. Numbers of states depend on who is first, and
//! nothing that is told depends on them. So the answer is the same for every number of threads.
//!
//! *Limits*: a helper that comes to one leaves the state as it is, and the search comes to it in its turn.
//!
//! *Cost*: states may be expanded that the search never comes to, if it finds an error before; with their successors
//! they take room in the store. For each helper there is a share of memory, which limits how far it is ahead.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use spinward_guide::Way;
use spinward_machine::{System, system::length};
use spinward_store::{Numbers, Store};

use super::fresh::{Fresh, Seen};
use super::known::{Hand, Reached, Shared};
use super::open::Waiting;
use crate::limits::{Memory, longer};

/// So many states are expanded before it is worth to have helpers.
const ALONE: usize = 256;

/// States that are handed over at a time.
const CHUNK: usize = 16;

/// States that each helper may be ahead.
const JOBS: usize = 256;

/// Bytes that each helper may have for what is not noted yet.
const SHARE_BYTES: u64 = 1 << 20;

/// Bytes that a helper has beside what is counted: the top of its stack, room to work in.
const THREAD_BYTES: u64 = 3 << 16;

/// Bytes of a job, and of what leads to it, about.
const JOB_BYTES: u64 = 2 * size_of::<Job>() as u64;

/// What the search and its helpers share.
pub(super) struct Ahead<'a, S, T> {
    shared: &'a Shared<'a, S, T>,
    /// By state: the length of the shortest run known, and one; 0 if there is none.
    lengths: &'a Numbers,
    /// How many helpers there may be.
    helpers: usize,
    queue: Mutex<Queue>,
    /// There is something to do, or nothing any more.
    called: Condvar,
}

/// What helpers take their work from.
struct Queue {
    jobs: VecDeque<SharedJob>,
    /// How many helpers wait.
    waiting: usize,
    /// Whether they are to go.
    quit: bool,
}

/// A state that is to be expanded. Whoever expands it has it locked meanwhile.
type SharedJob = Arc<Mutex<Job>>;

pub(super) struct Job {
    from: Reached,
    /// Longer runs are not looked at.
    bound: u32,
    /// What is not part of the state's key.
    hidden: Vec<u8>,
    stage: Stage,
    /// What came of it, if it is done.
    fresh: Fresh,
    /// What its room is taken from.
    memory: Memory,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is to be expanded.
    Open,
    Done,
    /// It is none of the helpers' business any more.
    Closed,
}

impl Job {
    /// What came of it, if a helper expanded it; if none has begun, none will.
    pub fn done(job: &SharedJob) -> Option<MutexGuard<'_, Self>> {
        let mut job = job.try_lock().ok()?;
        match job.stage {
            Stage::Done => Some(job),
            Stage::Open | Stage::Closed => {
                job.stage = Stage::Closed;
                None
            }
        }
    }

    /// What came of the state.
    pub fn fresh(&self) -> &Fresh {
        &self.fresh
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.memory.give_back(JOB_BYTES);
    }
}

impl<'a, S: System, T: Store> Ahead<'a, S, T> {
    /// For a search by so many threads.
    pub fn new(shared: &'a Shared<'a, S, T>, lengths: &'a Numbers, threads: usize) -> Self {
        // What a guide remembers depends on the order in which it is asked.
        let is_alone = shared.directed.guide.remembers();
        Self {
            shared,
            lengths,
            helpers: if is_alone { 0 } else { threads.saturating_sub(1) },
            queue: Mutex::new(Queue { jobs: VecDeque::new(), waiting: 0, quit: false }),
            called: Condvar::new(),
        }
    }

    /// Runs a search that may have helpers.
    pub fn run<R>(
        &self,
        scratch: &mut S::Scratch,
        search: impl FnOnce(&mut Helpers<'_, '_, 'a, S, T>, &mut S::Scratch) -> R,
    ) -> R {
        let (result, done) = std::thread::scope(|scope| {
            let mut helpers = Helpers::new(self, scope);
            let result = search(&mut helpers, scratch);
            let threads = helpers.dismiss();
            (result, threads.into_iter().map(ScopedJoinHandle::join).collect::<Vec<_>>())
        });
        self.shared.memory.give_back(done.len() as u64 * (THREAD_BYTES + SHARE_BYTES));
        for helper in done {
            match helper {
                Ok(other) => self.shared.system.absorb(scratch, other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a helper does.
    fn help(&self) -> S::Scratch {
        let mut scratch = self.shared.system.scratch();
        let mut hand = Hand::default();
        let mut chunk = Vec::with_capacity(CHUNK);
        while self.take_chunk(&mut chunk) {
            for job in chunk.drain(..).rev() {
                // If it is locked, the search has come to it.
                if let Ok(mut job) = job.try_lock()
                    && job.stage == Stage::Open
                {
                    self.expand(&mut job, &mut hand, &mut scratch);
                }
            }
        }
        scratch
    }

    /// Takes some work, as soon as there is any; whether there will be any more.
    fn take_chunk(&self, chunk: &mut Vec<SharedJob>) -> bool {
        let mut queue = self.lock();
        while queue.jobs.is_empty() && !queue.quit {
            queue.waiting += 1;
            queue = self.called.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
        let count = queue.jobs.len().min(CHUNK);
        chunk.extend(queue.jobs.drain(..count));
        !queue.quit
    }

    /// Expands a state and looks up what comes of it. If it comes to a limit, it leaves that to the search.
    fn expand(&self, job: &mut Job, hand: &mut Hand, scratch: &mut S::Scratch) {
        let Shared { system, directed, store, .. } = self.shared;
        let Job { from, bound, hidden, stage, fresh, .. } = job;
        fresh.clear();
        hand.take(from.number, |out| out.extend_from_slice(hidden), store);
        let Hand { worker, room, state, .. } = hand;
        let (limit, flow) = fresh.expand(state, self.shared, worker, scratch);
        if limit.is_some() || flow.is_break() {
            return;
        }
        let looked_up = fresh.look_up(|successor| {
            let key = system.key(successor.state);
            let (number, _) = store.insert(key, successor.prepared, worker)?;
            let total = longer(from.length, length(successor.steps));
            Ok(match self.lengths.get(number) {
                0 if total <= *bound => {
                    let way = Way { before: from.estimate, steps: successor.steps };
                    let estimate = directed.guide.estimate(successor.state, way, room);
                    Seen::At(number, Some(estimate))
                }
                known if known != 0 && known <= total + 1 => Seen::Before,
                _ => Seen::At(number, None),
            })
        });
        if looked_up.is_ok() {
            *stage = Stage::Done;
        }
    }
}

/// The helpers of a search.
pub(super) struct Helpers<'s, 'e, 'a, S: System, T: Store> {
    ahead: &'s Ahead<'a, S, T>,
    scope: &'s Scope<'s, 'e>,
    threads: Vec<ScopedJoinHandle<'s, S::Scratch>>,
    /// What they may use for what is not noted yet.
    share: Memory,
    /// By ticket: the states that were handed out and whose turn did not come.
    jobs: Vec<(Waiting, Option<SharedJob>)>,
    /// Tickets that nobody has.
    free: Vec<u32>,
    /// Some that are about to be handed out.
    chunk: Vec<SharedJob>,
    spare: Vec<SharedJob>,
    /// Expansions until the helpers are looked after next; none if there are none any more.
    countdown: Option<usize>,
}

impl<'s, 'e, 'a, S: System, T: Store> Helpers<'s, 'e, 'a, S, T> {
    fn new(ahead: &'s Ahead<'a, S, T>, scope: &'s Scope<'s, 'e>) -> Self {
        Self {
            ahead,
            scope,
            threads: Vec::new(),
            share: Memory::new(Some(0)),
            jobs: Vec::new(),
            free: Vec::new(),
            chunk: Vec::new(),
            spare: Vec::new(),
            countdown: (ahead.helpers > 0).then_some(ALONE),
        }
    }

    /// Whether half of the share is in use.
    fn is_far_ahead(&self) -> bool {
        self.share.used() > self.threads.len() as u64 * SHARE_BYTES / 2
    }

    /// How many states are to be handed out. To be called for every expansion.
    pub fn wanted(&mut self) -> usize {
        match &mut self.countdown {
            None => return 0,
            Some(0) => {}
            Some(countdown) => {
                *countdown -= 1;
                return 0;
            }
        }
        self.countdown = Some(CHUNK);
        if self.threads.is_empty() {
            self.hire();
        }
        self.look_for_panics();
        let count = self.threads.len();
        if count == 0 {
            self.countdown = None;
        }
        if self.is_far_ahead() {
            return 0;
        }
        let queued = self.ahead.lock().jobs.len();
        let room = (count * JOBS).saturating_sub(self.ahead());
        (4 * count * CHUNK).saturating_sub(queued).min(room)
    }

    /// How many states were handed out and wait for their turn.
    pub fn ahead(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// Starts the other threads, as far as the system allows.
    fn hire(&mut self) {
        let (ahead, scope) = (self.ahead, self.scope);
        let hire_one = |_| {
            ahead.shared.memory.take(THREAD_BYTES + SHARE_BYTES).ok()?;
            let builder = std::thread::Builder::new().name("search".into());
            builder.spawn_scoped(scope, || ahead.help()).ok()
        };
        self.threads = (0..ahead.helpers).map_while(hire_one).collect();
        self.share = Memory::new(Some(self.threads.len() as u64 * SHARE_BYTES));
    }

    /// A helper that is gone before it was sent home has panicked: so does the search.
    fn look_for_panics(&mut self) {
        if let Some(gone) = self.threads.iter().position(ScopedJoinHandle::is_finished)
            && let Err(panic) = self.threads.swap_remove(gone).join()
        {
            std::panic::resume_unwind(panic);
        }
    }

    /// Adds a state to those to be handed out, if there is room; a ticket for it.
    pub fn add(
        &mut self,
        from: Reached,
        bound: u32,
        read_hidden: impl FnOnce(&mut Vec<u8>),
    ) -> Option<u32> {
        let job = self.spare.pop().or_else(|| self.new_job())?;
        {
            let mut job = job.lock().unwrap_or_else(PoisonError::into_inner);
            job.from = from;
            job.bound = bound;
            job.hidden.clear();
            read_hidden(&mut job.hidden);
            job.stage = Stage::Open;
        }
        let Reached { number, length, .. } = from;
        let state = Waiting { number, length };
        self.chunk.push(job.clone());
        match self.free.pop() {
            Some(ticket) => {
                self.jobs[ticket as usize] = (state, Some(job));
                Some(ticket)
            }
            None => {
                self.jobs.push((state, Some(job)));
                Some(self.jobs.len() as u32 - 1)
            }
        }
    }

    fn new_job(&self) -> Option<SharedJob> {
        self.share.take(JOB_BYTES).ok()?;
        Some(Arc::new(Mutex::new(Job {
            from: Reached { number: 0, length: 0, estimate: 0 },
            bound: 0,
            hidden: Vec::new(),
            stage: Stage::Closed,
            fresh: Fresh::new(&self.share),
            memory: self.share.clone(),
        })))
    }

    /// Hands out what was added.
    pub fn call(&mut self) {
        if self.chunk.is_empty() {
            return;
        }
        let mut queue = self.ahead.lock();
        queue.jobs.extend(self.chunk.drain(..));
        if queue.waiting > 0 {
            self.ahead.called.notify_all();
        }
    }

    /// The turn of a state that was handed out has come.
    pub fn take(&mut self, ticket: u32) -> (Waiting, Option<SharedJob>) {
        self.free.push(ticket);
        let (state, job) = &mut self.jobs[ticket as usize];
        (*state, job.take())
    }

    /// Takes back what is no longer needed.
    pub fn give_back(&mut self, job: SharedJob) {
        // Whoever works on it drops it.
        if let Ok(mut it) = job.try_lock() {
            it.stage = Stage::Closed;
            it.fresh.clear();
        } else {
            return;
        }
        if !self.is_far_ahead() {
            self.spare.push(job);
        }
    }

    /// Sends all home.
    fn dismiss(mut self) -> Vec<ScopedJoinHandle<'s, S::Scratch>> {
        std::mem::take(&mut self.threads)
    }
}

/// Also if the search panics.
impl<S: System, T: Store> Drop for Helpers<'_, '_, '_, S, T> {
    fn drop(&mut self) {
        self.ahead.shared.over.store(true, Ordering::Relaxed);
        self.ahead.lock().quit = true;
        self.ahead.called.notify_all();
    }
}
