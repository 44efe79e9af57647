//! The states that are on disk.
//!
//! *Idea* (Jabbar and Edelkamp, *I/O efficient directed model checking*, 2005, sections 3 and 6): states that wait are
//! in runs by bucket, some of them more than once; those that were expanded are in runs by estimate, as only states
//! with the same estimate can be the same. When a bucket has its turn its runs are merged, and what was expanded is
//! subtracted.
//!
//! The paper subtracts as many layers as the *locality* of the graph asks for (section 4.1). A model that comes back
//! to its first state has one as large as its depth, so here all layers are subtracted; but runs of several layers
//! are merged as they come, four of about one size into one, so that there are few, and blocks in which
//! nothing is asked for are not read.
//!
//! *Invariant*: the manifest lists files that were synced, and what they have of states is all that a search needs to
//! go on. What it does not list is not needed.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use spinward_disk::{Cursor, Error, Folder, Merge, NewFile, Record, Run, RunWriter, Section};

use super::pool::{Bucket, Entry, Pool};
use crate::limits::MAX_LENGTH;

/// The name of the manifest.
pub(super) const MANIFEST: &str = "search.json";

/// So many runs of one size are merged into one.
const FAN_IN: usize = 4;

/// A bucket has no more runs than this when it has its turn.
const MOST_RUNS: usize = 32;

/// Time between two manifests; more if they take long, so that this is a small part of all time, but not much more: it
/// is what is lost when the program is killed.
const PAUSE: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(60);
const SHARE: u32 = 20;

/// What a run has of a state: how long the run to it is, and whether the state counts already. Of several the lowest
/// is kept: of runs of one length one to a state that counts.
pub(super) fn number(length: u32, counted: bool) -> u32 {
    length << 1 | u32::from(!counted)
}

/// The length of the run to a state, of what a run has of it.
pub(super) fn length(number: u32) -> u32 {
    number >> 1
}

/// Whether the state counts already.
pub(super) fn is_counted(number: u32) -> bool {
    number & 1 == 0
}

/// A run of states that wait, from a key on.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub run: Arc<Run>,
    pub from: Vec<u8>,
}

/// Where states of the pool go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// They were expanded, and have this estimate.
    Closed(u32),
    Waiting(Bucket),
}

/// The runs of a shelf, for a manifest.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Runs {
    /// Files by number, with their sizes.
    files: Vec<(u64, u64)>,
    closed: Vec<(u32, Section)>,
    /// By length, estimate, run, and the key from which on it counts.
    waiting: Vec<(u32, u32, Section, Vec<u8>)>,
}

impl Runs {
    /// How many states wait, if none waits twice.
    pub fn waiting(&self) -> u64 {
        self.waiting.iter().map(|(.., section, _)| section.records).sum()
    }

    /// The shortest run to a state that waits.
    pub fn depth(&self) -> Option<u64> {
        self.waiting.iter().map(|&(length, ..)| length.into()).min()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }

    /// Makes sure that all files are there, as large as they were, in the folder, of which it tells all.
    pub fn check(&self, folder: &Folder) -> Result<BTreeMap<u64, u64>, Error> {
        let there: BTreeMap<u64, u64> = folder.files()?.into_iter().collect();
        for &(number, size) in &self.files {
            let what = match there.get(&number) {
                Some(&now) if now == size => continue,
                Some(now) => format!("it has {now} bytes, not {size}"),
                None => "it is missing".to_owned(),
            };
            return Err(Error::Damaged { path: folder.file_path(number), what });
        }
        Ok(there)
    }
}

/// The states that are on disk.
pub(super) struct Shelf {
    pub folder: Arc<Folder>,
    skip: usize,
    /// Bytes that a cursor reads at a time.
    pub ahead: usize,
    /// Whether only states of the same estimate can be the same.
    by_estimate: bool,
    closed: BTreeMap<u32, Vec<Arc<Run>>>,
    waiting: BTreeMap<Bucket, Vec<Part>>,
    /// The sizes of all files that are in use.
    files: BTreeMap<u64, u64>,
    next: u64,
    /// Written, but not synced.
    fresh: Vec<(u64, File)>,
    /// Not used any more, but by the last manifest; with their sizes.
    stale: Vec<(u64, u64)>,
    saved: Instant,
    /// How long the last manifest took, and what was synced for it.
    took: Duration,
    began: Instant,
    /// The most bytes at a time.
    pub peak: u64,
}

impl Shelf {
    pub fn new(folder: Folder, skip: usize, ahead: usize, by_estimate: bool) -> Self {
        Self {
            folder: Arc::new(folder),
            skip,
            ahead,
            by_estimate,
            closed: BTreeMap::new(),
            waiting: BTreeMap::new(),
            files: BTreeMap::new(),
            next: 0,
            fresh: Vec::new(),
            stale: Vec::new(),
            saved: Instant::now(),
            took: Duration::ZERO,
            began: Instant::now(),
            peak: 0,
        }
    }

    /// Takes the runs that a manifest lists, and removes all other files.
    pub fn restore(&mut self, runs: Runs) -> Result<(), Error> {
        let there = runs.check(&self.folder)?;
        self.files = runs.files.into_iter().collect();
        for &number in there.keys().filter(|number| !self.files.contains_key(number)) {
            self.folder.remove(number)?;
        }
        self.next = there.keys().last().map_or(0, |last| last + 1);
        for (estimate, section) in runs.closed {
            let run = Run::open(&self.folder, section, self.skip)?;
            self.closed.entry(estimate).or_default().push(Arc::new(run));
        }
        for (length, estimate, section, from) in runs.waiting {
            let run = Arc::new(Run::open(&self.folder, section, self.skip)?);
            self.waiting.entry(Bucket { length, estimate }).or_default().push(Part { run, from });
        }
        self.peak = self.bytes();
        Ok(())
    }

    /// Whether nothing is on disk.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.files.values().sum::<u64>() + self.stale.iter().map(|(_, size)| size).sum::<u64>()
    }

    /// Bytes in memory, for what is on disk.
    pub fn memory(&self) -> u64 {
        let closed = self.closed.values().flatten().map(|run| run.memory());
        let waiting = self.waiting.values().flatten().map(|part| part.run.memory());
        closed.chain(waiting).sum()
    }

    /// How many states wait, if none waits twice.
    pub fn waiting(&self) -> u64 {
        self.waiting.values().flatten().map(|part| part.run.len()).sum()
    }

    /// The buckets of states that wait.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.waiting.keys().copied()
    }

    /// Among the states with which estimate one with this one may be.
    fn partition(&self, estimate: u32) -> u32 {
        if self.by_estimate { estimate } else { 0 }
    }

    /// The runs of states that were expanded, among which one with this estimate may be.
    pub fn closed(&self, estimate: u32) -> Vec<Arc<Run>> {
        self.closed.get(&self.partition(estimate)).cloned().unwrap_or_default()
    }

    /// All runs, of states that were expanded and of those that wait.
    pub fn all_runs(&self) -> impl Iterator<Item = &Arc<Run>> {
        let waiting = self.waiting.values().flatten().map(|part| &part.run);
        self.closed.values().flatten().chain(waiting)
    }

    /// The runs of a bucket, which are not too many.
    pub fn take_waiting(&mut self, bucket: Bucket) -> Result<Vec<Part>, Error> {
        while self.waiting.get(&bucket).is_some_and(|parts| parts.len() > MOST_RUNS) {
            let parts = self.waiting.entry(bucket).or_default();
            let parts: Vec<_> = parts.drain(..MOST_RUNS).collect();
            let run = self.merge(&parts)?;
            let merged = run.map(|run| Part { run: Arc::new(run), from: Vec::new() });
            self.waiting.entry(bucket).or_default().extend(merged);
            self.release(parts.into_iter().map(|part| part.run));
        }
        Ok(self.waiting.remove(&bucket).unwrap_or_default())
    }

    /// Puts back the runs of a bucket, of which all states before a key were expanded.
    pub fn put_back(&mut self, bucket: Bucket, parts: Vec<Part>, from: &[u8]) {
        let parts = parts.into_iter().map(|part| {
            let from = if *part.from < *from { from.to_vec() } else { part.from };
            Part { from, ..part }
        });
        self.waiting.entry(bucket).or_default().extend(parts);
    }

    /// Those of a bucket are done with.
    pub fn drop_parts(&mut self, parts: Vec<Part>) {
        self.release(parts.into_iter().map(|part| part.run));
    }

    /// Merges runs into one.
    fn merge(&mut self, parts: &[Part]) -> Result<Option<Run>, Error> {
        let mut cursors = Vec::new();
        for part in parts {
            let mut cursor = Cursor::new(&self.folder, &part.run, self.ahead);
            cursor.seek(&part.from)?;
            cursors.push(cursor);
        }
        let mut merge = Merge::new(cursors, &[])?;
        let mut file = self.folder.create(self.next)?;
        let mut writer = RunWriter::new(&mut file, self.skip);
        let mut key = Vec::new();
        while let Some(record) = merge.record() {
            writer.push(record)?;
            merge.advance(&mut key)?;
        }
        let run = writer.finish()?;
        let (number, size) = (self.next, file.len());
        let file = file.finish()?;
        self.next += 1;
        self.keep(number, size, file);
        Ok(run)
    }

    /// A file that is of use for a moment only.
    pub fn extra(&mut self) -> Result<NewFile<'_>, Error> {
        self.next += 1;
        self.folder.create(self.next - 1)
    }

    /// A file was written.
    fn keep(&mut self, number: u64, size: u64, file: File) {
        self.files.insert(number, size);
        self.fresh.push((number, file));
        self.peak = self.peak.max(self.bytes());
    }

    /// Runs are not used any more.
    fn release(&mut self, runs: impl Iterator<Item = Arc<Run>>) {
        for run in runs {
            let file = run.section().file;
            let uses = |other: &Arc<Run>| other.section().file == file;
            let is_used = self.closed.values().flatten().any(uses)
                || self.waiting.values().flatten().any(|part| uses(&part.run));
            if !is_used && let Some(size) = self.files.remove(&file) {
                self.stale.push((file, size));
            }
        }
    }

    /// Writes all states of the pool that are not on disk, and lets them go unless old ones are kept; tells the buckets
    /// of those that wait.
    pub fn spill(
        &mut self,
        pool: &mut Pool,
        threads: usize,
        keeps_old: bool,
    ) -> Result<Vec<Bucket>, Error> {
        let groups = |entry: &Entry<'_>| {
            let closed = Group::Closed(self.partition(entry.bucket.estimate));
            let closed = (entry.is_closed || entry.is_counted).then_some(closed);
            let waiting = (!entry.is_closed).then_some(Group::Waiting(entry.bucket));
            closed.into_iter().chain(waiting)
        };
        let sorted = pool.sorted(threads, groups);
        let mut buckets = Vec::new();
        if !sorted.is_empty() {
            let mut file = self.folder.create(self.next)?;
            for states in sorted.chunk_by(|one, other| one.group == other.group) {
                let mut writer = RunWriter::new(&mut file, self.skip);
                let is_closed = matches!(states[0].group, Group::Closed(_));
                for it in states {
                    pool.with(it.at, |entry| {
                        // One that waits once more was expanded after a longer run, and must not count again.
                        let again = is_closed && !entry.is_closed;
                        let length = if again { MAX_LENGTH } else { entry.bucket.length };
                        let number = number(length, entry.is_counted);
                        writer.push(Record { state: entry.state, number, mark: entry.mark })
                    })?;
                }
                let Some(run) = writer.finish()?.map(Arc::new) else { continue };
                match states[0].group {
                    Group::Closed(estimate) => {
                        self.closed.entry(estimate).or_default().push(run);
                    }
                    Group::Waiting(bucket) => {
                        buckets.push(bucket);
                        let part = Part { run, from: Vec::new() };
                        self.waiting.entry(bucket).or_default().push(part);
                    }
                }
            }
            let (number, size) = (self.next, file.len());
            let file = file.finish()?;
            self.next += 1;
            self.keep(number, size, file);
        }
        drop(sorted);
        pool.age(keeps_old);
        self.tidy()?;
        Ok(buckets)
    }

    /// Merges runs of about one size, so that there are few.
    fn tidy(&mut self) -> Result<(), Error> {
        let estimates: Vec<u32> = self.closed.keys().copied().collect();
        for estimate in estimates {
            while let Some(parts) = self.alike(estimate) {
                let run = self.merge(&parts)?;
                let runs = self.closed.entry(estimate).or_default();
                let is_merged =
                    |run: &Arc<Run>| parts.iter().any(|part| Arc::ptr_eq(&part.run, run));
                runs.retain(|run| !is_merged(run));
                runs.extend(run.map(Arc::new));
                self.release(parts.into_iter().map(|part| part.run));
            }
        }
        Ok(())
    }

    /// Runs of about one size, or smaller, if there are enough.
    fn alike(&self, estimate: u32) -> Option<Vec<Part>> {
        let runs = self.closed.get(&estimate)?;
        let class = |run: &Run| run.len().ilog(FAN_IN as u64);
        let classes: std::collections::BTreeSet<u32> = runs.iter().map(|run| class(run)).collect();
        classes.into_iter().find_map(|most| {
            let alike = runs.iter().filter(|run| class(run) <= most);
            let parts: Vec<_> =
                alike.map(|run| Part { run: run.clone(), from: Vec::new() }).collect();
            (parts.len() >= FAN_IN).then_some(parts)
        })
    }

    /// Whether it is time for a manifest.
    pub fn is_due(&self) -> bool {
        self.took.is_zero()
            || self.saved.elapsed() >= (SHARE * self.took).clamp(*PAUSE.start(), *PAUSE.end())
    }

    /// All runs, for a manifest, after all that was written was synced.
    pub fn runs(&mut self) -> Result<Runs, Error> {
        self.began = Instant::now();
        for (number, file) in self.fresh.drain(..) {
            if self.files.contains_key(&number) {
                self.folder.sync(number, &file)?;
            }
        }
        let closed = self.closed.iter().flat_map(|(&estimate, runs)| {
            runs.iter().map(move |run| (estimate, run.section().clone()))
        });
        let waiting = self.waiting.iter().flat_map(|(&Bucket { length, estimate }, parts)| {
            parts.iter().map(move |Part { run, from }| {
                (length, estimate, run.section().clone(), from.clone())
            })
        });
        let files = self.files.iter().map(|(&number, &size)| (number, size)).collect();
        Ok(Runs { files, closed: closed.collect(), waiting: waiting.collect() })
    }

    /// A manifest was written; what only the one before needed can go.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.saved = Instant::now();
        self.took = self.began.elapsed();
        self.stale.drain(..).try_for_each(|(number, _)| self.folder.remove(number))
    }
}
