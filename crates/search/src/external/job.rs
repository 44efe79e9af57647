//! What threads do with a bucket.
//!
//! A bucket is cut into slices, each with all states between two keys (or, as long as nothing is on disk, with some
//! states in any order). A thread that takes a slice goes through what waits there in order, in memory and on disk,
//! drops what was expanded before (`subtract.rs`), and expands the rest (`come.rs`), some states at a time: when all of
//! these were expanded they are closed, and what came of them is noted. So a thread may give up at any time, and nothing
//! is lost but time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashSet;
use spinward_disk::Error;
use spinward_guide::Room;
use spinward_machine::System;

use super::Search;
use super::form::Written;
use super::pool::{Address, Bucket, Sorted};
use super::shelf::{Closed, Part};
use crate::limits::{Limit, Watch};

/// States of a slice, about.
const SLICE: usize = 2048;

/// Fewer states than this are not worth another thread.
const ALONE: usize = 1024;

/// Why a thread gave up, or a search.
#[derive(Debug)]
pub(super) enum Why {
    /// There is no more room in memory.
    Full,
    Limit(Limit),
    Disk(Error),
    /// As many errors were found as were asked for.
    Errors,
}

/// What a thread works with.
pub(super) struct Hand<S: System> {
    pub scratch: S::Scratch,
    pub room: Room,
    pub batch: Batch,
    /// The state that is expanded, and a successor as it is kept.
    pub state: Written,
    pub successor: Written,
    /// A state of the pool, or the key of the one before.
    pub key: Vec<u8>,
}

impl<S: System> Hand<S> {
    pub fn new(system: &S) -> Self {
        Self {
            scratch: system.scratch(),
            room: Room::default(),
            batch: Batch::default(),
            state: Written::default(),
            successor: Written::default(),
            key: Vec::new(),
        }
    }
}

/// States that are expanded together, as they are kept.
#[derive(Default)]
pub(super) struct Batch {
    pub bytes: Vec<u8>,
    pub members: Vec<Member>,
    /// Where states wait now.
    pub touched: FxHashSet<Bucket>,
}

#[derive(Clone, Copy)]
pub(super) struct Member {
    /// Where it ends in the bytes.
    pub end: usize,
    pub at: Address,
    pub mark: u8,
    pub is_counted: bool,
}

impl Batch {
    pub fn push(&mut self, state: &[u8], at: Address, mark: u8, is_counted: bool) {
        self.bytes.extend_from_slice(state);
        self.members.push(Member { end: self.bytes.len(), at, mark, is_counted });
    }

    /// How many of its states do not count yet.
    pub fn new_states(&self) -> u64 {
        self.members.iter().filter(|it| !it.is_counted).count() as u64
    }

    /// Leaves out those from which on more states than this would count.
    pub fn keep(&mut self, most: u64) {
        let mut states = 0;
        let is_too_much = |member: &Member| {
            states += u64::from(!member.is_counted);
            states > most
        };
        let end = self.members.iter().position(is_too_much);
        self.members.truncate(end.unwrap_or(self.members.len()));
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.members.clear();
    }
}

/// A bucket that is being emptied.
pub(super) struct Job {
    pub bucket: Bucket,
    /// Whether runs that lead here are longer than the user wants.
    pub is_beyond: bool,
    /// The states in memory; in the order of their keys if `sorted`.
    items: Vec<Sorted<()>>,
    pub parts: Vec<Part>,
    pub closed: Vec<Closed>,
    /// Where slices begin: in the items, and at which key.
    starts: Vec<(usize, Vec<u8>)>,
    /// The next slice.
    next: AtomicUsize,
    done: Vec<AtomicBool>,
    /// Whether all threads are to end.
    pub over: AtomicBool,
    why: Mutex<Option<Why>>,
}

impl Job {
    pub fn new<S: System>(
        search: &Search<'_, S>,
        bucket: Bucket,
        addresses: Vec<Address>,
        parts: Vec<Part>,
        closed: Vec<Closed>,
    ) -> Self {
        let is_current =
            |at: &Address| search.pool.with(*at, |it| !it.is_closed && it.bucket == bucket);
        let current = addresses.into_iter().filter(is_current);
        let mut items: Vec<_> = current.map(|at| Sorted::new((), at)).collect();
        let is_sorted = !parts.is_empty() || !closed.is_empty();
        let mut starts = Vec::new();
        if is_sorted {
            search.pool.sort(&mut items, search.request.threads);
            starts = cut(search, &items, &parts);
        } else {
            starts.extend((0..items.len()).step_by(SLICE).map(|start| (start, Vec::new())));
        }
        Self {
            bucket,
            is_beyond: bucket.length > search.reach.most,
            items,
            parts,
            closed,
            next: AtomicUsize::new(0),
            done: starts.iter().map(|_| AtomicBool::new(false)).collect(),
            starts,
            over: AtomicBool::new(false),
            why: Mutex::new(None),
        }
    }

    /// What is left of the runs, and from which key on.
    pub fn into_rest(self) -> (Vec<Part>, Vec<u8>) {
        let undone = self.done.iter().position(|done| !done.load(Ordering::Relaxed));
        let from = undone.map(|slice| self.starts[slice].1.clone());
        (self.parts, from.unwrap_or_default())
    }

    /// Has all states expanded.
    pub fn run<S: System>(
        &self,
        search: &Search<'_, S>,
        hands: &mut [Hand<S>],
        watch: &mut Watch<'_>,
    ) -> Result<(), Why> {
        let waiting = self.parts.iter().map(|part| part.run.len()).sum::<u64>() as usize;
        let states = self.items.len() + waiting;
        let (first, others) = hands.split_first_mut().expect("there is a thread");
        let others = if states < ALONE { &mut [] } else { others };
        std::thread::scope(|scope| {
            for hand in others {
                let builder = std::thread::Builder::new().name("search".into());
                // With fewer threads it takes longer.
                let _ = builder.spawn_scoped(scope, || self.work(search, hand, &mut || {}));
            }
            self.work(search, first, &mut || {
                let counts = search.notes().counts;
                watch.report(&counts, self.bucket.length, search.pool.memory());
            });
        });
        match self.why.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }

    fn work<S: System>(
        &self,
        search: &Search<'_, S>,
        hand: &mut Hand<S>,
        report: &mut dyn FnMut(),
    ) {
        while !self.over.load(Ordering::Relaxed) {
            let slice = self.next.fetch_add(1, Ordering::Relaxed);
            if slice >= self.starts.len() {
                return;
            }
            hand.batch.clear();
            let start = self.starts[slice].0;
            let (end, high) = match self.starts.get(slice + 1) {
                Some((end, high)) => (*end, Some(&**high)),
                None => (self.items.len(), None),
            };
            let items = &self.items[start..end];
            let mut worker = Worker { search, job: self, hand, report };
            let result = if self.parts.is_empty() && self.closed.is_empty() {
                worker.expand_all(items)
            } else {
                worker.expand_new(items, &self.starts[slice].1, high)
            };
            match result.and_then(|()| worker.expand()) {
                Ok(()) => self.done[slice].store(true, Ordering::Relaxed),
                Err(why) => {
                    self.over.store(true, Ordering::Relaxed);
                    let mut known = self.why.lock().unwrap_or_else(PoisonError::into_inner);
                    // What cannot be mended by making room comes first.
                    if matches!(*known, None | Some(Why::Full)) {
                        *known = Some(why);
                    }
                    return;
                }
            }
        }
    }
}

/// Cuts a bucket into slices: where they begin among the states in memory, and at which key.
fn cut<S: System>(
    search: &Search<'_, S>,
    items: &[Sorted<()>],
    parts: &[Part],
) -> Vec<(usize, Vec<u8>)> {
    let key = |item: &Sorted<()>| search.pool.with(item.at, |it| it.state[search.skip..].to_vec());
    // Each stands for so many states behind it.
    let mut keys: Vec<(Vec<u8>, usize)> =
        items.iter().step_by(SLICE).map(|item| (key(item), SLICE)).collect();
    for Part { run, from } in parts {
        let blocks = run.keys().count().max(1);
        // A part of the blocks is enough to cut by.
        let step = (SLICE * blocks / (run.len() as usize).max(1)).clamp(1, blocks);
        let states = run.len() as usize / blocks * step;
        let inside = run.keys().step_by(step).filter(|&key| key > from.as_slice());
        keys.extend(inside.map(|key| (key.to_vec(), states)));
    }
    keys.sort_unstable();
    let mut starts = vec![(0, Vec::new())];
    let mut states = 0;
    for (start, more) in keys {
        states += more;
        if states > SLICE {
            let at = items.partition_point(|item| {
                search.pool.with(item.at, |it| it.state[search.skip..] < start[..])
            });
            starts.push((at, start));
            states = 0;
        }
    }
    starts.dedup_by(|one, other| one.1 == other.1);
    starts
}

/// A thread that has taken a slice.
pub(super) struct Worker<'w, 'a, S: System> {
    pub search: &'w Search<'a, S>,
    pub job: &'w Job,
    pub hand: &'w mut Hand<S>,
    pub report: &'w mut dyn FnMut(),
}
