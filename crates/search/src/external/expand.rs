//! What threads do with a bucket.
//!
//! A bucket is cut into slices, each with all states between two keys (or, as long as nothing is on disk, with some
//! states in any order). A thread that takes a slice goes through what waits there in order, in memory and on disk,
//! drops what was expanded before, and expands the rest, some states at a time: when all of these were expanded they
//! are closed, and what came of them is noted. So a thread may give up at any time, and nothing is lost but time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;
use spinward_disk::{Cursor, Error, Merge, Run};
use spinward_guide::{NEVER, Room, Way};
use spinward_machine::{Flow, Sink, Step, System, Violation, system::length as steps_in};

use super::pool::{Address, Bucket, Sorted, hash_of, mark};
use super::shelf::{Part, is_counted, length};
use super::{Origin, Search};
use crate::directed::Range;
use crate::findings::Findings;
use crate::limits::{Limit, MAX_LENGTH, Watch, longer};
use crate::outcome::Counts;

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
    room: Room,
    batch: Batch,
    /// A state of the pool, or the key of the one before.
    key: Vec<u8>,
}

impl<S: System> Hand<S> {
    pub fn new(system: &S) -> Self {
        Self {
            scratch: system.scratch(),
            room: Room::default(),
            batch: Batch::default(),
            key: Vec::new(),
        }
    }
}

/// States that are expanded together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    members: Vec<Member>,
    touched: FxHashSet<Bucket>,
}

#[derive(Clone, Copy)]
struct Member {
    /// Where it ends in the bytes.
    end: usize,
    at: Address,
    mark: u8,
    is_counted: bool,
}

impl Batch {
    fn push(&mut self, state: &[u8], at: Address, mark: u8, is_counted: bool) {
        self.bytes.extend_from_slice(state);
        self.members.push(Member { end: self.bytes.len(), at, mark, is_counted });
    }

    /// How many of its states do not count yet.
    fn new_states(&self) -> u64 {
        self.members.iter().filter(|it| !it.is_counted).count() as u64
    }

    /// Leaves out those from which on more states than this would count.
    fn keep(&mut self, most: u64) {
        let mut states = 0;
        let is_too_much = |member: &Member| {
            states += u64::from(!member.is_counted);
            states > most
        };
        let end = self.members.iter().position(is_too_much);
        self.members.truncate(end.unwrap_or(self.members.len()));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.members.clear();
    }
}

/// A bucket that is being emptied.
pub(super) struct Job {
    bucket: Bucket,
    /// Whether runs that lead here are longer than the user wants.
    is_beyond: bool,
    /// The states in memory; in the order of their keys if `sorted`.
    items: Vec<Sorted<()>>,
    parts: Vec<Part>,
    closed: Vec<Arc<Run>>,
    /// Where slices begin: in the items, and at which key.
    starts: Vec<(usize, Vec<u8>)>,
    /// The next slice.
    next: AtomicUsize,
    done: Vec<AtomicBool>,
    over: AtomicBool,
    why: Mutex<Option<Why>>,
}

impl Job {
    pub fn new<S: System>(
        search: &Search<'_, S>,
        bucket: Bucket,
        addresses: Vec<Address>,
        parts: Vec<Part>,
        closed: Vec<Arc<Run>>,
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
        let states = run.len() as usize / run.keys().count().max(1);
        let inside = run.keys().filter(|&key| key > from.as_slice());
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

struct Worker<'w, 'a, S: System> {
    search: &'w Search<'a, S>,
    job: &'w Job,
    hand: &'w mut Hand<S>,
    report: &'w mut dyn FnMut(),
}

impl<S: System> Worker<'_, '_, S> {
    /// Expands states of which it is known that they are new.
    fn expand_all(&mut self, items: &[Sorted<()>]) -> Result<(), Why> {
        for item in items {
            let batch = &mut self.hand.batch;
            self.search
                .pool
                .with(item.at, |it| batch.push(it.state, item.at, it.mark, it.is_counted));
            self.expand_if_many()?;
        }
        Ok(())
    }

    /// Expands those states that are new, of those in memory, in order, and on disk, between two keys.
    fn expand_new(
        &mut self,
        items: &[Sorted<()>],
        low: &[u8],
        high: Option<&[u8]>,
    ) -> Result<(), Why> {
        let Search { pool, shelf, skip, .. } = self.search;
        let bucket = self.job.bucket;
        let cursors =
            self.job.parts.iter().map(|part| part.cursor(&shelf.folder, shelf.ahead, low));
        let cursors = cursors.collect::<Result<_, _>>();
        let waiting = cursors.and_then(|cursors| Merge::new(cursors, low));
        let mut waiting = waiting.map_err(Why::Disk)?;
        let closed = self.job.closed.iter();
        let mut closed: Vec<_> =
            closed.map(|run| Cursor::new(&shelf.folder, run, shelf.ahead)).collect();
        let mut items = items.iter();
        let mut item = items.next();
        let mut key = Vec::new();
        let mut removed = 0;
        loop {
            let in_memory = item.map(|item| {
                self.hand.key.clear();
                pool.with(item.at, |it| {
                    self.hand.key.extend_from_slice(it.state);
                    (item.at, it.mark, it.is_counted)
                })
            });
            let memory_key = in_memory.map(|_| &self.hand.key[*skip..]);
            let disk_key = waiting.key().filter(|&key| high.is_none_or(|high| key < high));
            let (state, at, mark, mut counted) = match (memory_key, disk_key) {
                (None, None) => break,
                (Some(own), Some(other)) if own > other => record(&waiting),
                (None, Some(_)) => record(&waiting),
                (Some(own), other) => {
                    let (at, mut mark, mut counted) = in_memory.expect("there is one");
                    if other == Some(own)
                        && let Some(there) = waiting.record()
                    {
                        counted |= is_counted(there.number);
                        mark = mark.min(there.mark);
                    }
                    (&*self.hand.key, Some(at), mark, counted)
                }
            };
            let own = &state[*skip..];
            let hash = hash_of(own);
            let is_on_disk_too = disk_key == Some(own);
            let looked = if at.is_none() { pool.look(state, hash) } else { None };
            let is_known = looked.is_some_and(|it| {
                let length = it.bucket.length;
                length < bucket.length || it.is_closed && length == bucket.length
            });
            counted |= looked.is_some_and(|it| it.is_closed || it.is_counted);
            let mut length_on_disk = None;
            if !is_known {
                for cursor in &mut closed {
                    cursor.seek(own).map_err(Why::Disk)?;
                    if cursor.key() == Some(own) {
                        let found = cursor.record().map(|it| length(it.number));
                        length_on_disk = found.into_iter().chain(length_on_disk).min();
                    }
                }
            }
            match length_on_disk {
                _ if is_known => removed += 1,
                Some(length) if length <= bucket.length => {
                    removed += 1;
                    if let Some(at) = at {
                        pool.close_as_saved(at, length);
                    }
                }
                _ if self.job.is_beyond => {
                    self.cut_off();
                    return Ok(());
                }
                _ => {
                    counted |= length_on_disk.is_some();
                    let at = match at {
                        Some(at) => at,
                        None => {
                            pool.admit(state, hash, bucket, mark, counted).map_err(|_| Why::Full)?
                        }
                    };
                    self.hand.batch.push(state, at, mark, counted);
                }
            }
            let from_memory = at.is_some();
            if is_on_disk_too {
                waiting.advance(&mut key).map_err(Why::Disk)?;
            }
            if from_memory {
                item = items.next();
            }
            self.expand_if_many()?;
        }
        self.search.notes().removed += removed;
        Ok(())
    }

    /// A state is beyond the bound on the depth. It is enough to know that there is one.
    fn cut_off(&mut self) {
        self.hand.batch.clear();
        self.search.notes().truncated = true;
        self.job.over.store(true, Ordering::Relaxed);
    }

    fn expand_if_many(&mut self) -> Result<(), Why> {
        if self.hand.batch.members.len() >= self.search.batch { self.expand() } else { Ok(()) }
    }

    /// Expands the states at hand, and closes them.
    fn expand(&mut self) -> Result<(), Why> {
        let Self { search, job, .. } = *self;
        if self.hand.batch.members.is_empty() {
            return Ok(());
        }
        if job.is_beyond {
            self.cut_off();
            return Ok(());
        }
        if search.pool.is_crowded() || job.over.load(Ordering::Relaxed) {
            return Err(Why::Full);
        }
        search.clock.check().map_err(Why::Limit)?;
        let batch = &mut self.hand.batch;
        if job.bucket.length > search.bound() {
            // A better run was found since the bucket had its turn.
            batch.clear();
            return Ok(());
        }
        let new = batch.new_states();
        let granted = search.reserve(new);
        batch.keep(granted);
        let mut come = Come::new(search, job.bucket);
        let result = if job.bucket.estimate == NEVER && search.guide().rules_out() {
            Ok(())
        } else {
            come.expand_batch(self.hand)
        };
        let is_done = result.is_ok();
        let batch = &mut self.hand.batch;
        if is_done {
            for member in &batch.members {
                search.pool.close(member.at, member.mark);
                come.counts.states += u64::from(!member.is_counted);
                come.counts.reopened += u64::from(member.is_counted);
            }
        } else {
            search.left.fetch_add(granted, Ordering::Relaxed);
        }
        batch.clear();
        // What was found stays found, though more comes when the states are expanded again.
        come.note(batch, is_done);
        (self.report)();
        result?;
        if granted < new { Err(Why::Limit(Limit::States)) } else { Ok(()) }
    }
}

/// The record at hand, which is not in memory.
fn record<'m>(waiting: &'m Merge<'_>) -> (&'m [u8], Option<Address>, u8, bool) {
    let record = waiting.record().expect("there is one");
    (record.state, None, record.mark, is_counted(record.number))
}

/// What came of some expansions.
struct Come<'w, 'a, S: System> {
    search: &'w Search<'a, S>,
    bucket: Bucket,
    counts: Counts,
    range: Option<Range>,
    findings: Findings<Origin>,
    heaviest: u32,
    truncated: bool,
    left_out: bool,
}

impl<'w, 'a, S: System> Come<'w, 'a, S> {
    fn new(search: &'w Search<'a, S>, bucket: Bucket) -> Self {
        Self {
            search,
            bucket,
            counts: Counts::default(),
            range: None,
            findings: Findings::new(),
            heaviest: 0,
            truncated: false,
            left_out: false,
        }
    }

    fn expand_batch(&mut self, hand: &mut Hand<S>) -> Result<(), Why> {
        let search = self.search;
        let Hand { scratch, room, batch, .. } = hand;
        let Batch { bytes, members, touched } = batch;
        let mut start = 0;
        for member in members.iter() {
            let state = &bytes[start..member.end];
            start = member.end;
            if self.is_too_far(state, room) {
                self.left_out = true;
                continue;
            }
            let hash = hash_of(&state[search.skip..]);
            let mut successors = Successors {
                come: self,
                from: state,
                mark: mark(hash),
                mark_before: member.mark,
                room,
                touched,
                wrong: 0,
                full: false,
                limit: None,
            };
            let flow = search.system.expand(state, scratch, &mut successors);
            if successors.full {
                return Err(Why::Full);
            }
            search.clock.broken_off(successors.limit, flow).map_err(Why::Limit)?;
            self.counts.expanded += 1;
        }
        self.counts.depth = self.bucket.length.into();
        Ok(())
    }

    /// Whether it is sure that no run through a state is shorter than the best one found, unless to a run-time error.
    fn is_too_far(&self, state: &[u8], room: &mut Room) -> bool {
        let Search { directed, reach, .. } = self.search;
        directed.bound.filter(|_| reach.proves).is_some_and(|guide| {
            let bound = self.search.bound();
            bound < MAX_LENGTH
                && self.bucket.length.saturating_add(guide.estimate(state, Way::default(), room))
                    > bound
        })
    }

    /// Notes all of it; or if the expansions were broken off what is wrong, and what is known of the states reached.
    fn note(self, batch: &mut Batch, is_done: bool) {
        let search = self.search;
        let mut guard = search.notes();
        let notes = &mut *guard;
        notes.findings.merge(self.findings, is_done, Origin::order);
        // States that were reached stay too.
        notes.heaviest = notes.heaviest.max(self.heaviest);
        if let Some(Range { least, most }) = self.range {
            notes.range =
                Range { least: notes.range.least.min(least), most: notes.range.most.max(most) };
        }
        notes.counts.state_bytes = notes.counts.state_bytes.max(self.counts.state_bytes);
        if !is_done {
            return;
        }
        for bucket in batch.touched.drain() {
            search.open(notes, bucket);
        }
        let (all, new) = (&mut notes.counts, &self.counts);
        all.states += new.states;
        all.transitions += new.transitions;
        all.expanded += new.expanded;
        all.reopened += new.reopened;
        all.errors += new.errors;
        all.depth = all.depth.max(new.depth);
        notes.truncated |= self.truncated;
        notes.left_out |= self.left_out;
    }
}

/// Takes the successors of one state.
struct Successors<'s, 'w, 'a, S: System> {
    come: &'s mut Come<'w, 'a, S>,
    from: &'s [u8],
    /// Some bits of its hash, and of that of the one before.
    mark: u8,
    mark_before: u8,
    room: &'s mut Room,
    touched: &'s mut FxHashSet<Bucket>,
    /// How many things were wrong so far.
    wrong: u32,
    /// Whether there was no room for a successor.
    full: bool,
    limit: Option<Limit>,
}

impl<S: System> Successors<'_, '_, '_, S> {
    fn flow(&mut self, result: Result<(), Limit>) -> Flow {
        crate::limits::unless_hit(result, &mut self.limit)
    }
}

impl<S: System> Sink for Successors<'_, '_, '_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let Come { search, bucket, counts, heaviest, .. } = &mut *self.come;
        let Search { pool, reach, skip, .. } = *search;
        counts.transitions += 1;
        let by = steps_in(steps);
        *heaviest = (*heaviest).max(by as u32);
        let total = longer(bucket.length, by);
        if total > search.bound() {
            return Flow::Continue(());
        }
        let total = if total > reach.most { MAX_LENGTH } else { total };
        let hash = hash_of(&state[*skip..]);
        let before = bucket.estimate;
        let estimate = match pool.look(state, hash) {
            Some(known) if !known.yields_to(total, self.mark) => return Flow::Continue(()),
            Some(known) if known.bucket.length == total => {
                // An edge of no steps may be one of a circle, and must not lead back.
                if by == 0 {
                    return Flow::Continue(());
                }
                known.bucket.estimate
            }
            _ => search.guide().estimate(state, Way { before, steps }, self.room),
        };
        let next = Bucket { length: total, estimate };
        match pool.reach(state, hash, next, self.mark) {
            Ok(false) => {}
            Ok(true) => {
                self.touched.insert(next);
                let come = &mut *self.come;
                come.counts.state_bytes = come.counts.state_bytes.max(state.len() as u64);
                match &mut come.range {
                    Some(range) => range.note(estimate),
                    range => *range = Some(Range::of(estimate)),
                }
            }
            Err(_) => {
                self.full = true;
                return Flow::Break(());
            }
        }
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let come = &mut *self.come;
        let by = steps_in(steps);
        let nth = self.wrong;
        self.wrong += 1;
        let length = longer(come.bucket.length, by);
        if length > come.search.bound() {
            return Flow::Continue(());
        }
        if length > come.search.reach.most {
            come.truncated = true;
            return Flow::Continue(());
        }
        come.counts.errors += 1;
        let by = by as u32;
        let is_better = come.findings.known(violation).is_none_or(|known| {
            let Origin { state, by: known_by, nth: known_nth, .. } = &known.path;
            (length, self.from, by, nth) < (known.length, state, *known_by, *known_nth)
        });
        if is_better {
            let state = self.from.to_vec();
            let path = Origin { state, bucket: come.bucket, mark: self.mark_before, by, nth };
            come.findings.replace(violation, length, path);
        }
        if let Some(known) = come.findings.known(violation) {
            known.occurrences += 1;
        }
        if come.search.reach.proves {
            // Only shorter ones are looked for from now on.
            come.search.bound.fetch_min(length.saturating_sub(1), Ordering::Relaxed);
        }
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let lent = self.come.search.memory.lend(bytes as u64);
        self.flow(lent)
    }
}
