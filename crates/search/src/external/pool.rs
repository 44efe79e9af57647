//! The states that are in memory.
//!
//! *Idea*: as long as all states fit, this is all there is: a state waits in its bucket, and is closed when it was
//! expanded. When they do not fit any more, what is not on disk yet is written there, and the states stay for a while
//! as *old* ones, which nobody changes, so that most successors that are known need not be looked for on disk.
//!
//! *Threads*: states are dealt out to shards by their hash, each with a lock of its own.
//!
//! *Cost*: besides its bytes, 16 for each state, some 13 in a table, and some 8 while it waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashTable};
use rustc_hash::{FxBuildHasher, FxHashSet};
use spinward_store::{forget_code, hash, trim};

use crate::limits::{Limit, Memory};

/// Bytes that a shard takes at a time, and at first, as there may be few states.
const CHUNK: usize = 1 << 15;
const FIRST_CHUNK: usize = 1 << 9;

/// Bytes for each shard, about, so that what their last chunks have left is little, and what lists take of which there is
/// one for each bucket in each.
const SHARE: u64 = 1 << 20;

/// States begin at multiples of so many bytes.
const ALIGN: usize = 8;

/// Bytes before a state: length of the run, estimate, bytes of the state, and mark with flags.
const HEAD: usize = 16;

/// Flags of a state: it was expanded; it counts already; it is on disk as it is.
const CLOSED: u8 = 1;
const COUNTED: u8 = 2;
const SAVED: u8 = 4;

/// States that are expanded together: reached by runs of one length, and with one estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Bucket {
    pub length: u32,
    pub estimate: u32,
}

/// Where a state is in its shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot(u32);

/// Where a state is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub shard: u32,
    pub spot: Spot,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'p> {
    pub state: &'p [u8],
    pub bucket: Bucket,
    /// Some bits of the hash of the state it was reached from.
    pub mark: u8,
    pub is_closed: bool,
    pub is_counted: bool,
    is_saved: bool,
}

/// What is known of a state that was looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub bucket: Bucket,
    mark: u8,
    pub is_closed: bool,
    pub is_counted: bool,
}

impl Looked {
    /// Whether a run is better: shorter, or as long and the mark is lower, if the state still waits. So it comes to the
    /// same one in whatever order they are found. An edge of no steps may be one of a circle, and must not lead back.
    fn yields_to(self, Arrival { length, is_still, mark }: Arrival) -> bool {
        let is_lower = self.bucket.length == length && mark < self.mark;
        length < self.bucket.length || is_lower && !self.is_closed && !is_still
    }

    /// The flags of the state when it waits once more.
    fn flags_again(self) -> u8 {
        if self.is_closed || self.is_counted { COUNTED } else { 0 }
    }
}

/// A run that leads to a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub length: u32,
    /// Whether its last edge has no steps.
    pub is_still: bool,
    /// Some bits of the hash of the state before.
    pub mark: u8,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    spot: Spot,
    hash: u32,
}

/// States that wait, or did and are nearer now, by bucket. A* may have thousands of buckets with few states each, so what
/// each takes by itself counts.
#[derive(Debug, Default)]
struct Waiting {
    lists: HashMap<Bucket, Vec<Spot>, FxBuildHasher>,
}

impl Waiting {
    /// States of a list at first, and the bytes that the allocator adds to each list.
    const FIRST: usize = 6;
    const FRAME: usize = 8;

    /// Bytes of the first table, or more.
    const LEAST_TABLE: usize = 256;

    /// Bytes of a list.
    fn bytes(list: &Vec<Spot>) -> usize {
        list.capacity() * size_of::<Spot>() + Self::FRAME
    }

    /// Bytes that one more state takes in a bucket, at most.
    fn room_for(&self, bucket: Bucket) -> usize {
        match self.lists.get(&bucket) {
            Some(list) if list.len() < list.capacity() => 0,
            Some(list) => size_of_val(&**list),
            None => {
                let is_full = self.lists.len() == self.lists.capacity();
                let table = (2 * self.lists.allocation_size()).max(Self::LEAST_TABLE);
                let list = Self::FIRST * size_of::<Spot>() + Self::FRAME;
                if is_full { list + table } else { list }
            }
        }
    }

    /// Adds a state; how many bytes more there are in use.
    fn push(&mut self, bucket: Bucket, spot: Spot) -> usize {
        let before = self.lists.allocation_size();
        let mut more = 0;
        let list = self.lists.entry(bucket).or_insert_with(|| {
            let list = Vec::with_capacity(Self::FIRST);
            more = Self::bytes(&list);
            list
        });
        if list.len() == list.capacity() {
            more = size_of_val(&**list);
            list.reserve_exact(list.len());
        }
        list.push(spot);
        more + self.lists.allocation_size() - before
    }

    /// Takes a bucket out, which has so many bytes.
    fn remove(&mut self, bucket: Bucket) -> Option<(Vec<Spot>, usize)> {
        let list = self.lists.remove(&bucket)?;
        let bytes = Self::bytes(&list);
        Some((list, bytes))
    }

    /// Bytes of all.
    fn all_bytes(&self) -> usize {
        self.lists.allocation_size() + self.lists.values().map(Self::bytes).sum::<usize>()
    }
}

/// What a table makes of a part of a hash.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[derive(Debug, Default)]
struct Shard {
    chunks: Vec<Vec<u8>>,
    table: HashTable<Slot>,
    waiting: Waiting,
    /// Bytes taken from the budget.
    taken: u64,
}

impl Shard {
    fn bytes(&self, Spot(spot): Spot) -> &[u8] {
        let places = CHUNK / ALIGN;
        &self.chunks[spot as usize / places][spot as usize % places * ALIGN..]
    }

    fn bytes_mut(&mut self, Spot(spot): Spot) -> &mut [u8] {
        let places = CHUNK / ALIGN;
        &mut self.chunks[spot as usize / places][spot as usize % places * ALIGN..]
    }

    fn entry(&self, spot: Spot) -> Entry<'_> {
        let bytes = self.bytes(spot);
        let number =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("there are four"));
        let (mark, flags) = (bytes[12], bytes[13]);
        Entry {
            state: &bytes[HEAD..HEAD + number(8) as usize],
            bucket: Bucket { length: number(0), estimate: number(4) },
            mark,
            is_closed: flags & CLOSED != 0,
            is_counted: flags & COUNTED != 0,
            is_saved: flags & SAVED != 0,
        }
    }

    fn look(&self, spot: Spot) -> Looked {
        let Entry { bucket, mark, is_closed, is_counted, .. } = self.entry(spot);
        Looked { bucket, mark, is_closed, is_counted }
    }

    fn set(&mut self, spot: Spot, Bucket { length, estimate }: Bucket, mark: u8, flags: u8) {
        let bytes = self.bytes_mut(spot);
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes[4..8].copy_from_slice(&estimate.to_le_bytes());
        bytes[12] = mark;
        bytes[13] = flags;
    }

    /// A state that is known waits in a bucket, as it is now: what does not tell it from others may have changed.
    fn renew(&mut self, spot: Spot, hidden: &[u8], bucket: Bucket, mark: u8, flags: u8) {
        self.set(spot, bucket, mark, flags);
        self.bytes_mut(spot)[HEAD..HEAD + hidden.len()].copy_from_slice(hidden);
    }

    fn find(&self, key: &[u8], hash: u32, skip: usize) -> Option<Spot> {
        let is_it = |slot: &Slot| slot.hash == hash && &self.entry(slot.spot).state[skip..] == key;
        self.table.find(spread(hash), is_it).map(|slot| slot.spot)
    }

    /// All states, in the order in which they are in memory.
    fn all(&self) -> impl Iterator<Item = Spot> {
        self.chunks.iter().enumerate().flat_map(move |(number, chunk)| {
            let mut at = 0;
            std::iter::from_fn(move || {
                let spot = Spot((number * (CHUNK / ALIGN) + at / ALIGN) as u32);
                let bytes = (at < chunk.len()).then(|| HEAD + self.entry(spot).state.len())?;
                at += bytes.next_multiple_of(ALIGN);
                Some(spot)
            })
        })
    }
}

/// The states that are in memory.
pub(super) struct Pool {
    young: Vec<Mutex<Shard>>,
    old: Vec<Shard>,
    /// Bytes of the young.
    used: AtomicU64,
    /// Bytes that the young may use before some must go.
    crowded: u64,
    memory: Memory,
    /// Whether more may be in use for a while.
    overdraws: bool,
    /// Bytes at the beginning of a state that do not tell it from others.
    skip: usize,
}

impl Pool {
    /// An empty one, with so many bytes.
    pub fn new(bytes: u64, skip: usize) -> Self {
        // As many for every number of threads, so that states go to disk at the same time.
        let shards = (bytes / SHARE).clamp(2, 256).next_power_of_two();
        Self {
            young: (0..shards).map(|_| Mutex::default()).collect(),
            old: Vec::new(),
            used: AtomicU64::new(0),
            crowded: bytes / 8 * 7,
            memory: Memory::new(Some(bytes)),
            overdraws: false,
            skip,
        }
    }

    /// The most bytes that were in use.
    pub fn peak(&self) -> u64 {
        self.memory.peak()
    }

    /// What its memory is taken from.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether there is room for half as many states as there may be.
    pub fn is_half_empty(&self) -> bool {
        self.used.load(Ordering::Relaxed) < self.crowded / 2
    }

    /// Whether some states should go.
    pub fn is_crowded(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= self.crowded
    }

    fn shard(&self, number: u32) -> MutexGuard<'_, Shard> {
        self.young[number as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shard of a state, and what its table goes by.
    fn place(&self, hash: u64) -> (u32, u32) {
        ((hash >> 48) as u32 & (self.young.len() as u32 - 1), hash as u32)
    }

    fn take(&self, shard: &mut Shard, bytes: usize) -> Result<(), Limit> {
        if self.overdraws {
            self.memory.budget().overdraw(bytes as u64);
        } else {
            self.memory.take(bytes as u64)?;
        }
        shard.taken += bytes as u64;
        self.used.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    fn give_back(&self, shard: &mut Shard, bytes: usize) {
        self.memory.give_back(bytes as u64);
        shard.taken -= bytes as u64;
        self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// What is known of a state here.
    pub fn look(&self, state: &[u8], hash: u64) -> Option<Looked> {
        let (number, hash) = self.place(hash);
        let key = &state[self.skip..];
        let known = |shard: &Shard| Some(shard.look(shard.find(key, hash, self.skip)?));
        known(&self.shard(number)).or_else(|| known(self.old.get(number as usize)?))
    }

    /// A run leads to a state, which waits in a bucket now unless a better one is known; which it is, if it came there now.
    pub fn reach(
        &self,
        state: &[u8],
        hash: u64,
        arrival: Arrival,
        estimate: impl FnOnce() -> u32,
    ) -> Result<Option<Bucket>, Limit> {
        let Arrival { length, mark, .. } = arrival;
        let (number, part) = self.place(hash);
        let (hidden, key) = state.split_at(self.skip);
        let shard = &mut *self.shard(number);
        let (spot, bucket) = match shard.find(key, part, self.skip) {
            Some(spot) => {
                let known = shard.look(spot);
                if !known.yields_to(arrival) {
                    return Ok(None);
                }
                let (before, flags) = (known.bucket, known.flags_again());
                // It stays in its bucket if the run is as long.
                let stays = before.length == length;
                let bucket = if stays { before } else { Bucket { length, estimate: estimate() } };
                shard.renew(spot, hidden, bucket, mark, flags);
                if stays {
                    return Ok(None);
                }
                (spot, bucket)
            }
            None => {
                let old = self.old.get(number as usize);
                let known = old.and_then(|old| Some(old.look(old.find(key, part, self.skip)?)));
                if known.is_some_and(|known| !known.yields_to(arrival)) {
                    return Ok(None);
                }
                let flags = known.map_or(0, Looked::flags_again);
                let bucket = match known {
                    Some(known) if known.bucket.length == length => known.bucket,
                    _ => Bucket { length, estimate: estimate() },
                };
                (self.append(shard, state, part, bucket, mark, flags)?, bucket)
            }
        };
        self.list(shard, bucket, spot)?;
        Ok(Some(bucket))
    }

    /// Notes that a state waits in a bucket.
    fn list(&self, shard: &mut Shard, bucket: Bucket, spot: Spot) -> Result<(), Limit> {
        let room = shard.waiting.room_for(bucket);
        if room > 0 {
            self.take(shard, room)?;
        }
        let taken = shard.waiting.push(bucket, spot);
        if taken < room {
            self.give_back(shard, room - taken);
        }
        Ok(())
    }

    fn append(
        &self,
        shard: &mut Shard,
        state: &[u8],
        hash: u32,
        bucket: Bucket,
        mark: u8,
        flags: u8,
    ) -> Result<Spot, Limit> {
        let bytes = (HEAD + state.len()).next_multiple_of(ALIGN);
        let fits = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= bytes;
        if !shard.chunks.last().is_some_and(fits) {
            let usual = (FIRST_CHUNK << shard.chunks.len().min(16)).min(CHUNK);
            let room = bytes.max(usual);
            self.take(shard, room)?;
            shard.chunks.push(Vec::with_capacity(room));
        }
        if shard.table.len() == shard.table.capacity() {
            let before = shard.table.allocation_size();
            let after = (2 * before).max(1 << 10);
            self.take(shard, after)?;
            shard.table.reserve(shard.table.len().max(4), |slot| spread(slot.hash));
            let now = shard.table.allocation_size();
            self.give_back(shard, (before + after).saturating_sub(now));
        }
        let number = shard.chunks.len() - 1;
        let chunk = &mut shard.chunks[number];
        let spot = Spot((number * (CHUNK / ALIGN) + chunk.len() / ALIGN) as u32);
        let end = chunk.len() + bytes;
        chunk.extend_from_slice(&[0; 8]);
        chunk.extend_from_slice(&(state.len() as u32).to_le_bytes());
        chunk.extend_from_slice(&[0; 4]);
        chunk.extend_from_slice(state);
        chunk.resize(end, 0);
        shard.set(spot, bucket, mark, flags);
        shard.table.insert_unique(spread(hash), Slot { spot, hash }, |slot| spread(slot.hash));
        Ok(spot)
    }

    /// Has a state wait in a bucket that comes from disk, and does not count yet unless that is said.
    pub fn admit(
        &self,
        state: &[u8],
        hash: u64,
        bucket: Bucket,
        mark: u8,
        counted: bool,
    ) -> Result<Address, Limit> {
        let (number, part) = self.place(hash);
        let shard = &mut *self.shard(number);
        let flags = if counted { COUNTED } else { 0 };
        let (hidden, key) = state.split_at(self.skip);
        let spot = match shard.find(key, part, self.skip) {
            Some(spot) => {
                shard.renew(spot, hidden, bucket, mark, flags);
                spot
            }
            None => self.append(shard, state, part, bucket, mark, flags)?,
        };
        Ok(Address { shard: number, spot })
    }

    /// All states that wait in a bucket, or did.
    pub fn take_waiting(&self, bucket: Bucket) -> Vec<Address> {
        let mut all = Vec::new();
        for number in 0..self.young.len() as u32 {
            let shard = &mut *self.shard(number);
            if let Some((list, bytes)) = shard.waiting.remove(bucket) {
                all.extend(list.iter().map(|&spot| Address { shard: number, spot }));
                self.give_back(shard, bytes);
            }
        }
        all
    }

    /// Hands over what is known of a state.
    pub fn with<T>(&self, at: Address, work: impl FnOnce(Entry<'_>) -> T) -> T {
        work(self.shard(at.shard).entry(at.spot))
    }

    /// The state was expanded, after a run from a state with this mark.
    pub fn close(&self, Address { shard, spot }: Address, mark: u8) {
        let shard = &mut *self.shard(shard);
        let bucket = shard.entry(spot).bucket;
        shard.set(spot, bucket, mark, CLOSED | COUNTED);
    }

    /// The state is on disk, expanded after a run of this length.
    pub fn close_as_saved(&self, Address { shard, spot }: Address, length: u32) {
        let shard = &mut *self.shard(shard);
        let Entry { bucket, mark, .. } = shard.entry(spot);
        shard.set(spot, Bucket { length, ..bucket }, mark, CLOSED | COUNTED | SAVED);
    }

    /// All states that are not on disk, in the order of the groups they are in and then of their keys; one may be in
    /// several.
    pub fn sorted<G: Ord + Copy + Send + Sync, I: IntoIterator<Item = G>>(
        &self,
        threads: usize,
        groups: impl Fn(&Entry<'_>) -> I,
    ) -> Vec<Sorted<G>> {
        let mut count = 0;
        self.each(|entry| {
            if !entry.is_saved {
                count += groups(&entry).into_iter().count();
            }
        });
        // No more than that, as there may be little memory left.
        let mut all = Vec::with_capacity(count);
        for number in 0..self.young.len() as u32 {
            let shard = self.shard(number);
            for spot in shard.all() {
                let entry = shard.entry(spot);
                if !entry.is_saved {
                    let at = Address { shard: number, spot };
                    all.extend(groups(&entry).into_iter().map(|group| Sorted::new(group, at)));
                }
            }
        }
        self.sort(&mut all, threads);
        all
    }

    /// Sorts states by group and key.
    pub fn sort<G: Ord + Copy + Send + Sync>(&self, all: &mut [Sorted<G>], threads: usize) {
        let guards: Vec<_> =
            (0..self.young.len() as u32).map(|number| self.shard(number)).collect();
        let shards: Vec<&Shard> = guards.iter().map(|guard| &**guard).collect();
        let key = |at: Address| &shards[at.shard as usize].entry(at.spot).state[self.skip..];
        sort(all, threads, &key);
    }

    /// Calls with all states that are not old.
    pub fn each(&self, mut call: impl FnMut(Entry<'_>)) {
        for number in 0..self.young.len() as u32 {
            let shard = self.shard(number);
            shard.all().for_each(|spot| call(shard.entry(spot)));
        }
    }

    /// Writes all states otherwise, in less room; the buckets in which some wait, which may be more than before: for the last one
    /// there may have been no room in a list. None may be old.
    pub fn rewrite(&mut self, mut write: impl FnMut(&[u8], &mut Vec<u8>)) -> FxHashSet<Bucket> {
        debug_assert!(self.old.is_empty());
        let shards = self.young.len();
        let young =
            std::mem::replace(&mut self.young, (0..shards).map(|_| Mutex::default()).collect());
        let mut state = Vec::new();
        let mut buckets = FxHashSet::default();
        // Tables take as much as before, and are filled otherwise.
        self.overdraws = true;
        for shard in young {
            let mut before = shard.into_inner().unwrap_or_else(PoisonError::into_inner);
            let bytes = before.taken as usize;
            self.give_back(&mut before, bytes);
            for spot in before.all() {
                let Entry { state: was, bucket, mark, is_closed, is_counted, .. } =
                    before.entry(spot);
                state.clear();
                write(was, &mut state);
                let flags = [(is_closed, CLOSED), (is_counted, COUNTED)];
                let flags = flags.iter().map(|&(is, flag)| if is { flag } else { 0 }).sum();
                let (number, part) = self.place(hash_of(&state));
                let shard = &mut *self.shard(number);
                let spot = self.append(shard, &state, part, bucket, mark, flags);
                let listed = match spot {
                    Ok(spot) if !is_closed => self.list(shard, bucket, spot),
                    spot => spot.map(drop),
                };
                listed.expect("there is as much room as it takes");
                if !is_closed {
                    buckets.insert(bucket);
                }
            }
        }
        self.overdraws = false;
        // What was freed shall not count beside what comes, nor what compiled steps by now.
        trim();
        forget_code();
        buckets
    }

    /// Lets go of states after all that were not on disk were written there.
    pub fn age(&mut self, keeps_old: bool) {
        let shards = self.young.len();
        let young: Vec<_> =
            std::mem::replace(&mut self.young, (0..shards).map(|_| Mutex::default()).collect())
                .into_iter()
                .map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner))
                .collect();
        let old = std::mem::replace(&mut self.old, young);
        old.iter().for_each(|shard| self.memory.give_back(shard.taken));
        drop(old);
        for shard in &mut self.old {
            let bytes = std::mem::take(&mut shard.waiting).all_bytes() as u64;
            shard.taken -= bytes;
            self.memory.give_back(bytes);
        }
        self.used.store(0, Ordering::Relaxed);
        let limit = self.memory.budget().limit();
        if !keeps_old || self.memory.used() > limit / 16 * 9 {
            self.forget_old();
        }
        self.crowded = limit / 16 * 7;
        // Each thread has memory of its own from the allocator; what one has freed another would not use again.
        trim();
        forget_code();
    }

    /// Lets go of old states, all of which are on disk.
    pub fn forget_old(&mut self) {
        self.old.iter().for_each(|shard| self.memory.give_back(shard.taken));
        self.old = Vec::new();
    }

    /// Lets go of all states.
    pub fn clear(&mut self) {
        self.forget_old();
        for shard in &mut self.young {
            let shard = std::mem::take(shard.get_mut().unwrap_or_else(PoisonError::into_inner));
            self.memory.give_back(shard.taken);
        }
        self.used.store(0, Ordering::Relaxed);
    }
}

/// A state, to be sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sorted<G> {
    pub group: G,
    pub at: Address,
    /// Some bytes of its key, behind those that others have too.
    bytes: u64,
}

impl<G> Sorted<G> {
    pub fn new(group: G, at: Address) -> Self {
        Self { group, bytes: 0, at }
    }
}

/// As few states are sorted by one thread, and so few by comparing them.
const ALONE: usize = 1 << 13;
const FEW: usize = 8;

/// Sorts on all threads: each takes a part whose elements are all before those of the next.
fn sort<'k, G: Ord + Copy + Send>(
    all: &mut [Sorted<G>],
    threads: usize,
    key: &(impl Fn(Address) -> &'k [u8] + Sync),
) {
    if threads < 2 || all.len() < ALONE {
        sort_alone(all, key);
        return;
    }
    let order =
        |a: &Sorted<G>, b: &Sorted<G>| a.group.cmp(&b.group).then_with(|| key(a.at).cmp(key(b.at)));
    let share = threads / 2;
    let middle = all.len() / 2;
    let (before, _, after) = all.select_nth_unstable_by(middle, order);
    std::thread::scope(|scope| {
        scope.spawn(|| sort(before, share, key));
        sort(after, threads - share, key);
    });
}

/// Sorts by some bytes of the keys, then what is alike in these by the next ones: so keys, which may be anywhere in
/// memory, are looked at some times only, not at each comparison.
fn sort_alone<'k, G: Ord + Copy>(all: &mut [Sorted<G>], key: &impl Fn(Address) -> &'k [u8]) {
    all.sort_unstable_by_key(|it| it.group);
    let mut alike = Vec::new();
    push_alike(all, 0, 0, |it| it.group, &mut alike);
    while let Some((start, end, known)) = alike.pop() {
        let part = &mut all[start..end];
        let first = key(part[0].at);
        let mut common = first.len();
        let mut shortest = first.len();
        for it in &*part {
            let other = key(it.at);
            let bytes = first[known..common].iter().zip(&other[known..]);
            common = known + bytes.take_while(|(a, b)| a == b).count();
            shortest = shortest.min(other.len());
        }
        if part.len() <= FEW || shortest < common + size_of::<u64>() {
            part.sort_unstable_by_key(|it| &key(it.at)[common..]);
            continue;
        }
        for it in &mut *part {
            let bytes = key(it.at)[common..].first_chunk().expect("no key is shorter");
            it.bytes = u64::from_be_bytes(*bytes);
        }
        part.sort_unstable_by_key(|it| it.bytes);
        push_alike(part, start, common + size_of::<u64>(), |it| it.bytes, &mut alike);
    }
}

/// Lists the parts in which several states are alike, of states that begin there and in which so many bytes are known.
fn push_alike<G, K: PartialEq>(
    all: &[Sorted<G>],
    mut start: usize,
    known: usize,
    by: impl Fn(&Sorted<G>) -> K,
    alike: &mut Vec<(usize, usize, usize)>,
) {
    for part in all.chunk_by(|one, other| by(one) == by(other)) {
        if part.len() > 1 {
            alike.push((start, start + part.len(), known));
        }
        start += part.len();
    }
}

/// Some bits of the hash of a state, by which it is told from most others.
pub(super) fn mark(hash: u64) -> u8 {
    (hash >> 40) as u8
}

/// The hash of a state of which this part tells it from others.
pub(super) fn hash_of(key: &[u8]) -> u64 {
    hash(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_is_by_group_and_key() {
        let pool = Pool::new(1 << 24, 0);
        let bucket = Bucket { length: 0, estimate: 0 };
        let mut all = Vec::new();
        let mut keys = Vec::new();
        let mut seed = 1_u64;
        for _ in 0..40_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Of several lengths, one the beginning of another, and much alike.
            let mut key = vec![1; (seed >> 60) as usize];
            key.extend_from_slice(&[seed.to_le_bytes()[5] & 3, 0, 0, 0, 0, 0, 0, 0, 0]);
            key.extend_from_slice(&seed.to_be_bytes()[..(seed >> 40) as usize % 4]);
            let hash = hash_of(&key);
            let arrival = Arrival { length: 0, is_still: false, mark: 0 };
            if pool.reach(&key, hash, arrival, || 0) == Ok(Some(bucket)) {
                keys.push(((seed >> 50) & 1, key));
            }
        }
        for (group, key) in &keys {
            let (shard, part) = pool.place(hash_of(key));
            let spot = pool.shard(shard).find(key, part, 0).unwrap();
            all.push(Sorted::new(*group, Address { shard, spot }));
        }
        keys.sort();
        for threads in 1..4 {
            all.reverse();
            pool.sort(&mut all, threads);
            let sorted = all.iter().map(|it| pool.with(it.at, |at| (it.group, at.state.to_vec())));
            assert!(sorted.eq(keys.iter().cloned()));
        }
    }

    #[test]
    fn a_state_is_as_the_best_run_leaves_it() {
        let pool = Pool::new(1 << 20, 1);
        let hash = hash_of(&[7]);
        let bucket = |length| Bucket { length, estimate: 0 };
        let reach = |state: &[u8], length, mark| {
            pool.reach(state, hash, Arrival { length, is_still: false, mark }, || 0)
        };
        assert_eq!(reach(&[1, 7], 5, 9), Ok(Some(bucket(5))));
        // What does not tell it from others comes with the run.
        let at = pool.admit(&[2, 7], hash, bucket(3), 8, false).unwrap();
        pool.with(at, |it| assert_eq!((it.state, it.bucket, it.mark), (&[2, 7][..], bucket(3), 8)));
        assert_eq!(reach(&[3, 7], 3, 8), Ok(None));
        assert_eq!(reach(&[4, 7], 3, 6), Ok(None));
        pool.with(at, |it| assert_eq!((it.state, it.mark), (&[4, 7][..], 6)));
        pool.close(at, 6);
        assert_eq!(reach(&[5, 7], 3, 1), Ok(None));
        pool.with(at, |it| assert_eq!((it.state, it.mark), (&[4, 7][..], 6)));
        assert_eq!(reach(&[6, 7], 2, 1), Ok(Some(bucket(2))));
        pool.with(at, |it| assert!(it.is_counted && !it.is_closed));
    }
}
