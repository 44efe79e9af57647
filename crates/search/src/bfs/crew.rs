//! The threads, and how the blocks go from one to the other.
//!
//! All that threads hand over to each other lies behind one lock, taken a few times for each block:
//! the bucket the blocks are cut from, blocks that are expanded but not noted, and the notes
//! themselves. Whoever brings the block that is to be noted next takes the notes out, notes this and
//! all that follow and are there, and puts them back; so no thread is reserved for it, and others
//! expand meanwhile.
//!
//! *Invariant*: blocks are numbered as they are handed out and noted in this order. Their number in
//! flight is bounded; whoever finds none to take waits for the thread that has the one to be noted
//! next, which waits for nobody.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use spinward_machine::System;
use spinward_store::Store;

use super::expand::{Block, Expander, Shared};
use super::note::Notes;
use super::open::Bucket;
use super::ways::Ways;
use crate::limits::Memory;
use crate::outcome::{Counts, Stopped};

/// Blocks in flight for each other thread.
const BLOCKS: usize = 4;

/// The least and the most states in a block.
const BLOCK: std::ops::RangeInclusive<usize> = 16..=64;

/// Fewer states than this are not worth waking a thread.
const ALONE: usize = 128;

/// Bytes that a thread has beside what is counted: the top of its stack, its blocks, room to work in.
const THREAD_BYTES: u64 = 3 << 16;

/// The threads that search.
pub(super) struct Crew<'a, S, T> {
    pub shared: &'a Shared<'a, S, T>,
    round: Mutex<Round>,
    /// Something happened that a thread may wait for.
    changed: Condvar,
    /// How many threads there may be.
    threads: usize,
}

/// What the threads hand over to each other. A round empties one bucket.
struct Round {
    bucket: Bucket,
    ways: Ways,
    /// The most states of a block.
    size: usize,
    level: u32,
    /// How many blocks were handed out, and how many of them noted, in all rounds.
    handed_out: u64,
    noted: u64,
    /// Blocks that were expanded, from the one that is to be noted next.
    expanded: VecDeque<Option<Block>>,
    spare: Vec<Block>,
    /// None while a thread notes.
    notes: Option<Notes>,
    counts: Counts,
    /// Whether no block is handed out any more: one was broken off.
    closed: bool,
    stopped: Option<Stopped>,
    /// Whether the threads are to go.
    quit: bool,
    /// How many threads wait.
    waiting: usize,
}

impl Round {
    /// Whether there is a block to hand out.
    fn has_work(&self) -> bool {
        !self.closed && self.stopped.is_none() && !self.quit && self.bucket.len() > 0
    }

    /// Whether all that was handed out was noted, or nothing more will be.
    fn is_settled(&self) -> bool {
        self.stopped.is_some() || self.quit || self.noted == self.handed_out
    }

    /// Fills a block.
    fn hand_out(&mut self, block: &mut Block, memory: &Memory) {
        block.clear();
        block.sequence = self.handed_out;
        block.level = self.level;
        block.position = self.ways.count();
        self.handed_out += 1;
        while block.states.len() < self.size
            && let Some((number, way)) = self.bucket.pop(memory)
        {
            if let Err(limit) = self.ways.push(way, memory) {
                block.broken = Some(limit);
                self.closed = true;
                break;
            }
            block.states.push(number);
        }
    }

    /// Takes a block that was expanded.
    fn take_back(&mut self, block: Block) {
        self.closed |= block.broken.is_some();
        let place = (block.sequence - self.noted) as usize;
        if self.expanded.len() <= place {
            self.expanded.resize_with(place + 1, || None);
        }
        self.expanded[place] = Some(block);
    }

    /// The block that is to be noted next and the notes, if both are there.
    fn next_to_note(&mut self) -> Option<(Block, Notes)> {
        if self.stopped.is_some() || self.notes.is_none() {
            return None;
        }
        let block = self.expanded.front_mut()?.take()?;
        Some((block, self.notes.take()?))
    }

    /// A block was noted.
    fn finish(&mut self, block: Block, notes: Notes, result: Result<(), Stopped>) {
        self.counts = notes.counts;
        self.notes = Some(notes);
        self.stopped = result.err();
        self.expanded.pop_front();
        self.spare.push(block);
        self.noted += 1;
    }
}

impl<'a, S: System, T: Store> Crew<'a, S, T> {
    pub fn new(shared: &'a Shared<'a, S, T>, threads: usize, notes: Notes) -> Self {
        let round = Round {
            bucket: Bucket::new(),
            ways: Ways::new(),
            size: 0,
            level: 0,
            handed_out: 0,
            noted: 0,
            expanded: VecDeque::new(),
            spare: vec![Block::new(&shared.memory)],
            counts: notes.counts,
            notes: Some(notes),
            closed: false,
            stopped: None,
            quit: false,
            waiting: 0,
        };
        Self { shared, round: Mutex::new(round), changed: Condvar::new(), threads }
    }

    /// Empties the buckets, one after the other. `report` is called on this thread now and then.
    pub fn run(
        &self,
        scratch: &mut S::Scratch,
        report: &mut dyn FnMut(&Counts, u32),
    ) -> Result<(), Stopped> {
        let (result, done) = std::thread::scope(|scope| {
            let dismissal = Dismissal(self);
            let mut helpers = Vec::new();
            let mut expander = Expander::new(self.shared, scratch);
            let result = loop {
                match self.begin_round() {
                    Ok(0) => break Ok(()),
                    Ok(states) if states >= ALONE && helpers.is_empty() => {
                        helpers = self.hire(scope);
                    }
                    Ok(_) => {}
                    Err(stopped) => break Err(stopped),
                }
                while let Some((counts, level)) = self.expand_block(&mut expander) {
                    report(&counts, level);
                }
                let round = self.wait_until(Round::is_settled);
                if let Some(stopped) = round.stopped {
                    break Err(stopped);
                }
            };
            drop(dismissal);
            (result, helpers.into_iter().map(ScopedJoinHandle::join).collect::<Vec<_>>())
        });
        for helper in done {
            match helper {
                Ok(other) => self.shared.system.absorb(scratch, other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    }

    /// Takes the next bucket; how many states are in it.
    fn begin_round(&self) -> Result<usize, Stopped> {
        let Shared { marks, memory, .. } = self.shared;
        let mut guard = self.lock();
        let round = &mut *guard;
        // A thread that panicked sent all home, perhaps with the notes in its hands.
        let Some(notes) = round.notes.as_mut().filter(|_| !round.quit) else {
            return Ok(0);
        };
        let next = notes.open.next(notes.level, marks, memory).map_err(Stopped::Limit)?;
        let Some((level, bucket)) = next else {
            return Ok(0);
        };
        notes.level = level;
        notes.check_errors()?;
        let states = bucket.len();
        round.bucket = bucket;
        round.level = level;
        // Blocks small enough that all threads get some. What is noted past a limit depends on the
        // blocks, so their size must not depend on the number of threads.
        round.size = (states / 32).clamp(*BLOCK.start(), *BLOCK.end());
        if states >= ALONE && round.waiting > 0 {
            self.changed.notify_all();
        }
        Ok(states)
    }

    /// Starts the other threads, as far as the system allows.
    fn hire<'s>(&'s self, scope: &'s Scope<'s, '_>) -> Vec<ScopedJoinHandle<'s, S::Scratch>> {
        let hire_one = |_| {
            let memory = &self.shared.memory;
            memory.take(THREAD_BYTES).ok()?;
            let builder = std::thread::Builder::new().name("search".into());
            let helper = builder.spawn_scoped(scope, || self.help()).ok()?;
            self.lock().spare.extend((0..BLOCKS).map(|_| Block::new(memory)));
            Some(helper)
        };
        (1..self.threads).map_while(hire_one).collect()
    }

    /// What a helper does.
    fn help(&self) -> S::Scratch {
        let _alarm = PanicAlarm(self);
        let mut scratch = self.shared.system.scratch();
        let mut expander = Expander::new(self.shared, &mut scratch);
        loop {
            let round = self.wait_until(|round| round.quit || round.has_work());
            if round.quit {
                drop(round);
                break;
            }
            drop(round);
            while self.expand_block(&mut expander).is_some() {}
        }
        drop(expander);
        scratch
    }

    /// Expands a block, and notes what can be noted then. None if there is nothing to expand.
    fn expand_block(&self, expander: &mut Expander<'_, S, T>) -> Option<(Counts, u32)> {
        let mut round = self.wait_until(|round| !round.has_work() || !round.spare.is_empty());
        if !round.has_work() {
            return None;
        }
        let mut block = round.spare.pop()?;
        round.hand_out(&mut block, &self.shared.memory);
        drop(round);

        expander.expand(&mut block);

        let mut round = self.lock();
        round.take_back(block);
        while let Some((block, mut notes)) = round.next_to_note() {
            drop(round);
            let result = notes.note(&block, self.shared);
            round = self.lock();
            if result.is_err() {
                self.shared.over.store(true, Ordering::Relaxed);
            }
            round.finish(block, notes, result);
            if round.waiting > 0 {
                self.changed.notify_all();
            }
        }
        Some((round.counts, round.level))
    }

    fn lock(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, condition: impl Fn(&Round) -> bool) -> MutexGuard<'_, Round> {
        let mut round = self.lock();
        while !condition(&round) {
            round.waiting += 1;
            round = self.changed.wait(round).unwrap_or_else(PoisonError::into_inner);
            round.waiting -= 1;
        }
        round
    }

    /// Sends all threads home.
    fn dismiss(&self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.lock().quit = true;
        self.changed.notify_all();
    }

    /// The notes, and the ways to the states they speak of.
    pub fn into_notes(self) -> Option<(Notes, Ways)> {
        let round = self.round.into_inner().unwrap_or_else(PoisonError::into_inner);
        Some((round.notes?, round.ways))
    }
}

/// Sends all threads home when the first one is done, be it by a panic.
struct Dismissal<'c, 'a, S: System, T: Store>(&'c Crew<'a, S, T>);

impl<S: System, T: Store> Drop for Dismissal<'_, '_, S, T> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// Sends all threads home when one of them panics: nobody would note what it had.
struct PanicAlarm<'c, 'a, S: System, T: Store>(&'c Crew<'a, S, T>);

impl<S: System, T: Store> Drop for PanicAlarm<'_, '_, S, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.dismiss();
        }
    }
}
