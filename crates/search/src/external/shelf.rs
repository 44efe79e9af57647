//! The states that are on disk.
//!
//! *Idea* (Jabbar and Edelkamp, *I/O efficient directed model checking*, 2005, sections 3 and 6): states that wait are
//! in runs by bucket, some of them more than once; those that were expanded are in runs by estimate, as only states
//! with the same estimate can be the same. When a bucket has its turn its runs are merged, and what was expanded is
//! subtracted.
//!
//! The paper subtracts as many layers as the *locality* of the graph asks for (section 4.1). A model that comes back
//! to its first state has one as large as its depth, so here all layers are subtracted; but runs of several layers
//! are merged as they come, some of about one size into one, so that there are few, and blocks in which
//! nothing is asked for are not read.
//!
//! *Invariant*: the manifest lists files that were synced, and what they have of states is all that a search needs to
//! go on. What it does not list is not needed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use spinward_disk::{Cursor, Error, Folder, Merge, NewFile, Record, Run, RunWriter, Section};

use super::filter::{Filter, Probe};
use super::job::Why;
use super::pool::{Bucket, Entry, Pool, Sorted, hash_of};
use crate::limits::{Limit, MAX_LENGTH};

/// The name of the manifest.
pub(super) const MANIFEST: &str = "search.json";

/// The part of the memory in which it is known which states were not expanded, and the most bits for each of them.
const FILTER_SHARE: u64 = 4;
const FILTER_BITS: u64 = 12;

/// So many runs of one size are merged into one.
const FAN_IN: usize = 6;

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

impl Part {
    /// All of a run.
    fn whole(run: Arc<Run>) -> Self {
        Self { run, from: Vec::new() }
    }

    /// At its first record whose key is not less than this one.
    pub fn cursor<'p>(
        &'p self,
        folder: &'p Folder,
        ahead: usize,
        low: &[u8],
    ) -> Result<Cursor<'p>, Error> {
        let mut cursor = Cursor::new(folder, &self.run, ahead);
        cursor.seek(self.from.as_slice().max(low))?;
        Ok(cursor)
    }
}

/// A run of states that were expanded.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub run: Arc<Run>,
    /// The states in it, if there is memory for that.
    filter: Option<Arc<Filter>>,
}

impl Closed {
    /// Whether a state may be in it.
    pub fn may_have(&self, probe: Probe) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.may_have(probe))
    }

    /// Bytes of its filter.
    fn filter_bytes(&self) -> u64 {
        self.filter.as_ref().map_or(0, |filter| filter.bytes())
    }
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

    /// The shortest run to a state that waits, of those within the bound.
    pub fn depth(&self) -> Option<u64> {
        let lengths = self.waiting.iter().map(|&(length, ..)| length);
        lengths.filter(|&length| length < MAX_LENGTH).min().map(Into::into)
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
    closed: BTreeMap<u32, Vec<Closed>>,
    /// Bytes for filters.
    filters: u64,
    waiting: BTreeMap<Bucket, Vec<Part>>,
    /// The sizes of all files that are in use.
    files: BTreeMap<u64, u64>,
    next: u64,
    /// Written, but not synced, and in no manifest.
    fresh: BTreeSet<u64>,
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
            filters: 0,
            waiting: BTreeMap::new(),
            files: BTreeMap::new(),
            next: 0,
            fresh: BTreeSet::new(),
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
            let run = Arc::new(Run::open(&self.folder, section, self.skip)?);
            self.closed.entry(estimate).or_default().push(Closed { run, filter: None });
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
        let runs = self.all_runs().map(|run| run.memory());
        runs.sum::<u64>() + self.filter_bytes()
    }

    fn filter_bytes(&self) -> u64 {
        self.closed.values().flatten().map(Closed::filter_bytes).sum()
    }

    /// From now on it is known in memory of most states that they were not expanded, with a part of so many bytes.
    pub fn begin_filters(&mut self, memory: Option<u64>) {
        self.filters = memory.map_or(0, |bytes| bytes / FILTER_SHARE);
    }

    /// How many states were expanded, if none twice.
    fn expanded(&self) -> u64 {
        self.closed.values().flatten().map(|it| it.run.len()).sum()
    }

    /// Makes room for filters for so many states, of so many in all, by folding others; bytes for them.
    fn room_for_filters(&mut self, states: u64, of: u64) -> u64 {
        let share = u128::from(self.filters) * u128::from(states) / u128::from(of.max(1));
        let bytes = (share as u64).min(states * FILTER_BITS / 8);
        loop {
            let left = self.filters.saturating_sub(self.filter_bytes());
            let all = self.closed.values_mut().flatten();
            let foldable = all.filter(|it| it.filter.as_ref().is_some_and(|it| it.can_fold()));
            // The one that has the most bits for a state.
            let most = foldable.max_by_key(|it| (it.filter_bytes() << 10) / it.run.len().max(1));
            match most {
                Some(it) if left < bytes => {
                    it.filter = it.filter.take().map(|filter| Arc::new(filter.folded()));
                }
                _ => return bytes.min(left),
            }
        }
    }

    /// Takes note of the states that were expanded before. Now and then it is asked whether to go on.
    pub fn fill_filters(&mut self, go_on: impl Fn() -> Result<(), Limit>) -> Result<(), Why> {
        let expanded = self.expanded();
        let places = self
            .closed
            .iter()
            .flat_map(|(&estimate, runs)| (0..runs.len()).map(move |place| (estimate, place)));
        for (estimate, place) in places.collect::<Vec<_>>() {
            let run = self.closed[&estimate][place].run.clone();
            let mut filter = Filter::new(self.room_for_filters(run.len(), expanded));
            let mut cursor = Cursor::new(&self.folder, &run, self.ahead);
            let mut states = 0_u32;
            cursor.advance().map_err(Why::Disk)?;
            while let Some(record) = cursor.record() {
                filter.add(Probe::new(hash_of(&record.state[self.skip..])));
                cursor.advance().map_err(Why::Disk)?;
                states = states.wrapping_add(1);
                if states.is_multiple_of(1 << 12) {
                    go_on().map_err(Why::Limit)?;
                }
            }
            self.closed.entry(estimate).or_default()[place].filter = Some(Arc::new(filter));
        }
        Ok(())
    }

    /// Nobody asks any more whether a state was expanded.
    pub fn forget_filters(&mut self) {
        self.closed.values_mut().flatten().for_each(|it| it.filter = None);
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

    /// The runs of states that were expanded, among which one with this estimate may be; the smallest first, which have
    /// those that were expanded last, as most edges that lead back lead not far.
    pub fn closed(&self, estimate: u32) -> Vec<Closed> {
        let mut runs = self.closed.get(&self.partition(estimate)).cloned().unwrap_or_default();
        runs.sort_by_key(|it| it.run.len());
        runs
    }

    /// All runs, of states that were expanded and of those that wait.
    pub fn all_runs(&self) -> impl Iterator<Item = &Arc<Run>> {
        let waiting = self.waiting.values().flatten().map(|part| &part.run);
        self.closed.values().flatten().map(|it| &it.run).chain(waiting)
    }

    /// The runs of a bucket, which are not too many.
    pub fn take_waiting(&mut self, bucket: Bucket) -> Result<Vec<Part>, Error> {
        while self.waiting.get(&bucket).is_some_and(|parts| parts.len() > MOST_RUNS) {
            let parts = self.waiting.entry(bucket).or_default()[..MOST_RUNS].to_vec();
            let run = self.merge(&parts, None)?;
            let waiting = self.waiting.entry(bucket).or_default();
            waiting.drain(..MOST_RUNS);
            waiting.extend(run.map(|run| Part::whole(Arc::new(run))));
            self.drop_parts(parts);
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

    /// Merges runs into one, whose states are added to a filter.
    fn merge(
        &mut self,
        parts: &[Part],
        mut filter: Option<&mut Filter>,
    ) -> Result<Option<Run>, Error> {
        let (folder, ahead, skip) = (self.folder.clone(), self.ahead, self.skip);
        let cursors = parts.iter().map(|part| part.cursor(&folder, ahead, &[]));
        let mut merge = Merge::new(cursors.collect::<Result<_, _>>()?, &[])?;
        self.write_file(|file| {
            let mut writer = RunWriter::new(file, skip);
            let mut key = Vec::new();
            while let Some(record) = merge.record() {
                writer.push(record)?;
                if let Some(filter) = &mut filter {
                    filter.add(Probe::new(hash_of(&record.state[skip..])));
                }
                merge.advance(&mut key)?;
            }
            writer.finish()
        })
    }

    /// Writes a file that is listed from now on, unless it is empty.
    fn write_file<T>(
        &mut self,
        fill: impl FnOnce(&mut NewFile<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (filled, number, size) = self.write_extra(fill)?;
        if size == 0 {
            self.folder.remove(number)?;
        } else {
            self.files.insert(number, size);
            self.fresh.insert(number);
            self.peak = self.peak.max(self.bytes());
        }
        Ok(filled)
    }

    /// Writes a file that is of use for a moment only; also tells its number and size. If that fails nothing of it
    /// stays.
    pub fn write_extra<T>(
        &mut self,
        fill: impl FnOnce(&mut NewFile<'_>) -> Result<T, Error>,
    ) -> Result<(T, u64, u64), Error> {
        let number = self.next;
        self.next += 1;
        let mut file = self.folder.create(number)?;
        let written = fill(&mut file).and_then(|filled| {
            let size = file.len();
            file.finish()?;
            Ok((filled, number, size))
        });
        if written.is_err() {
            // What went wrong first is told.
            let _ = self.folder.remove(number);
        }
        written
    }

    /// Runs are not used any more.
    pub fn drop_parts(&mut self, parts: Vec<Part>) {
        for Part { run, .. } in parts {
            let file = run.section().file;
            let uses = |other: &Arc<Run>| other.section().file == file;
            let is_used = self.closed.values().flatten().any(|it| uses(&it.run))
                || self.waiting.values().flatten().any(|part| uses(&part.run));
            if !is_used && let Some(size) = self.files.remove(&file) {
                // The last manifest has none of those that came after it.
                let is_gone = self.fresh.remove(&file) && self.folder.remove(file).is_ok();
                if !is_gone {
                    self.stale.push((file, size));
                }
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
        // There are few of them, and what is sorted takes less room with their numbers.
        let mut all = BTreeSet::new();
        pool.each(|entry| all.extend(groups(&entry)));
        let all: Vec<Group> = all.into_iter().collect();
        let numbers = |entry: &Entry<'_>| {
            groups(entry).map(|group| all.partition_point(|other| *other < group) as u32)
        };
        let sorted = pool.sorted(threads, numbers);
        let mut buckets = Vec::new();
        if !sorted.is_empty() {
            let skip = self.skip;
            let groups = || sorted.chunk_by(|one, other| one.group == other.group);
            let group_of = |states: &[Sorted<u32>]| all[states[0].group as usize];
            let is_closed = |states: &&[Sorted<u32>]| matches!(group_of(states), Group::Closed(_));
            let closed = groups().filter(is_closed).map(|states| states.len() as u64).sum::<u64>();
            let room = self.room_for_filters(closed, self.expanded() + closed);
            let runs = self.write_file(|file| {
                let write = |states: &[Sorted<u32>]| {
                    let group = group_of(states);
                    let mut filter = is_closed(&states)
                        .then(|| Filter::new(room * states.len() as u64 / closed));
                    let run = write_group(file, pool, group, states, skip, filter.as_mut())?;
                    Ok((group, run, filter))
                };
                groups().map(write).collect::<Result<Vec<_>, _>>()
            });
            let runs = runs?;
            for (group, run, filter) in runs {
                let Some(run) = run.map(Arc::new) else { continue };
                match group {
                    Group::Closed(estimate) => {
                        let filter = filter.map(Arc::new);
                        self.closed.entry(estimate).or_default().push(Closed { run, filter });
                    }
                    Group::Waiting(bucket) => {
                        buckets.push(bucket);
                        self.waiting.entry(bucket).or_default().push(Part::whole(run));
                    }
                }
            }
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
                let is_merged =
                    |it: &Closed| parts.iter().any(|part| Arc::ptr_eq(&part.run, &it.run));
                // Nobody asks the old filters any more.
                let runs = self.closed.entry(estimate).or_default();
                runs.iter_mut().filter(|it| is_merged(it)).for_each(|it| it.filter = None);
                let states = parts.iter().map(|part| part.run.len()).sum();
                let mut filter = Filter::new(self.room_for_filters(states, self.expanded()));
                let run = self.merge(&parts, Some(&mut filter))?;
                let runs = self.closed.entry(estimate).or_default();
                runs.retain(|it| !is_merged(it));
                let filter = Some(Arc::new(filter));
                runs.extend(run.map(|run| Closed { run: Arc::new(run), filter }));
                self.drop_parts(parts);
            }
        }
        Ok(())
    }

    /// Runs of about one size, if there are enough, and all that are smaller.
    fn alike(&self, estimate: u32) -> Option<Vec<Part>> {
        let runs = self.closed.get(&estimate)?;
        let class = |it: &Closed| it.run.len().ilog(FAN_IN as u64);
        let classes: BTreeSet<u32> = runs.iter().map(class).collect();
        // A run is written again only with as many as large, or it would be with each few small ones that come.
        let is_many = |&most: &u32| runs.iter().filter(|it| class(it) == most).count() >= FAN_IN;
        let most = classes.into_iter().find(is_many)?;
        let some = runs.iter().filter(|it| class(it) <= most);
        Some(some.map(|it| Part::whole(it.run.clone())).collect())
    }

    /// Whether it is time for a manifest.
    pub fn is_due(&self) -> bool {
        self.took.is_zero()
            || self.saved.elapsed() >= (SHARE * self.took).clamp(*PAUSE.start(), *PAUSE.end())
    }

    /// All runs, for a manifest, after all that was written was synced.
    pub fn runs(&mut self) -> Result<Runs, Error> {
        self.began = Instant::now();
        self.fresh.iter().try_for_each(|&number| self.folder.sync(number))?;
        let closed = self.closed.iter().flat_map(|(&estimate, runs)| {
            runs.iter().map(move |it| (estimate, it.run.section().clone()))
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
        self.fresh.clear();
        self.stale.drain(..).try_for_each(|(number, _)| self.folder.remove(number))
    }
}

/// Writes the states of a group as a run.
fn write_group(
    file: &mut NewFile<'_>,
    pool: &Pool,
    group: Group,
    states: &[Sorted<u32>],
    skip: usize,
    mut filter: Option<&mut Filter>,
) -> Result<Option<Run>, Error> {
    let is_closed = matches!(group, Group::Closed(_));
    let mut writer = RunWriter::new(file, skip);
    for it in states {
        pool.with(it.at, |entry| {
            // One that waits once more was expanded after a longer run, and must not count again.
            let again = is_closed && !entry.is_closed;
            if let Some(filter) = filter.as_mut().filter(|_| is_closed) {
                filter.add(Probe::new(hash_of(&entry.state[skip..])));
            }
            let length = if again { MAX_LENGTH } else { entry.bucket.length };
            let number = number(length, entry.is_counted);
            writer.push(Record { state: entry.state, number, mark: entry.mark })
        })?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use spinward_disk::Faults;
    use tempfile::TempDir;

    use super::super::pool::{Arrival, hash_of};
    use super::*;

    #[test]
    fn a_run_is_merged_with_as_many_as_large_only() {
        let folder = TempDir::new().unwrap();
        let there = Folder::new(folder.path(), Faults::default()).unwrap();
        let mut shelf = Shelf::new(there, 0, 1 << 14, true);
        let run = |shelf: &mut Shelf, states: u32| {
            let write = |file: &mut NewFile<'_>| {
                let mut writer = RunWriter::new(file, 0);
                for state in 0..states {
                    let state = &state.to_be_bytes();
                    writer.push(Record { state, number: number(1, true), mark: 0 })?;
                }
                writer.finish()
            };
            let run = shelf.write_file(write).unwrap().unwrap();
            let run = Arc::new(run);
            shelf.closed.entry(0).or_default().push(Closed { run, filter: None });
        };
        let lengths =
            |shelf: &Shelf| shelf.closed(0).iter().map(|it| it.run.len()).collect::<Vec<_>>();
        for states in [4000, 300, 2, 2, 2, 2, 2] {
            run(&mut shelf, states);
        }
        shelf.tidy().unwrap();
        assert_eq!(lengths(&shelf), [2, 2, 2, 2, 2, 300, 4000]);
        run(&mut shelf, 3);
        shelf.tidy().unwrap();
        assert_eq!(lengths(&shelf), [3, 300, 4000]);
    }

    #[test]
    fn what_no_manifest_lists_goes_when_it_is_not_used_any_more() {
        let folder = TempDir::new().unwrap();
        let there = Folder::new(folder.path(), Faults::default()).unwrap();
        let mut shelf = Shelf::new(there, 0, 1 << 14, true);
        let mut pool = Pool::new(1 << 20, 0);
        let bucket = Bucket { length: 1, estimate: 0 };
        for state in 0..64_u8 {
            let arrival = Arrival { length: 1, is_still: false, mark: 0 };
            pool.reach(&[state], hash_of(&[state]), arrival, || 0).unwrap();
            pool.take_waiting(bucket).into_iter().for_each(|at| pool.close(at, 0));
            shelf.spill(&mut pool, 1, false).unwrap();
            let files: BTreeMap<_, _> = shelf.folder.files().unwrap().into_iter().collect();
            assert_eq!(files, shelf.files);
        }
        assert_eq!(shelf.closed(0).iter().map(|it| it.run.len()).sum::<u64>(), 64);
    }
}
