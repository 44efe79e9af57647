//! The concurrent index: where is the record with this content?
//!
//! *Idea*: an insert-only hash table of 32-bit *places* of records that lie elsewhere. Slots come
//! in buckets of one cache line, twelve places each beside an 8-bit tag of the hash, so that a miss
//! mostly costs one cache line and a hit one more for the record. A bucket that is full goes over
//! into the next ones. Buckets lie in *segments* of some hundred, found through a directory by the
//! first bits of the hash (Fagin and others, *Extendible hashing*, 1979). A segment that became too
//! full is replaced by a larger one or by two, while the rest of the table is in use; its memory is
//! used again for other segments, so that old and new are both there for one segment only.
//!
//! Two twists keep the table full, hence small. Segments may grow in steps (2, 3, then 2 + 2 units), and
//! the hash is bent a little before it chooses the segment so that some segments get up to twice as
//! many records as others (Martin, *Spiral storage*, 1979); so segments grow at different times,
//! and the bytes for a record hardly swing with the number of records.
//!
//! *A slot's life*: `EMPTY`, then `BUSY` (a thread claimed it by compare-and-swap and writes the
//! record), then a place for ever; or `DEAD` if the record could not be written; or `FROZEN` if it
//! was empty when the segment was replaced. Only the thread that made it busy ends that. A thread
//! that meets a busy slot which has no tag yet, or its own, waits for the few instructions that the
//! claim lasts; all else goes on without waiting, except in a segment that is being replaced.
//!
//! *Invariants*
//! 1. A key is claimed only in the first empty slot of its probe sequence, after all slots before
//!    it were seen to hold other keys; and within the life of a segment slots never become empty
//!    again. So two threads with one key meet in the same slot, and one of them loses.
//! 2. The thread that replaces a segment first freezes all its empty slots (by compare-and-swap, so
//!    each slot is either claimed or frozen) and waits for the busy ones: then it copies all there
//!    is, and whoever comes late finds no slot to claim.
//! 3. Memory of a replaced segment may be read by a thread that is late. What it finds is right
//!    whatever it reads, since it compares the record itself. What it does not find means nothing,
//!    so after a claim it looks again whether the segment is still the one of its hash, and if not
//!    makes the slot empty again; it had no tag, so nobody passed it meanwhile. The directory never shows a hash the same (segment, size, depth) twice,
//!    for depth and size only grow.
//!
//! *Memory orderings*: places are stored with `Release` after the record is written and loaded with
//! `Acquire`, so whoever sees a place sees the record. A claim (`Acquire`) in memory that is used
//! again reads a zero stored (`Release`) after the directory had changed, by the thread that cleared
//! the memory or by one late itself, so the look at the directory that follows sees the change: this
//! proves 3. Tags are set (`Release`) after the claim
//! and loaded with `Acquire` before the places; they are a hint: for a slot whose tag is still zero
//! the place is looked at.
//!
//! *Cost*: 64 bytes for 12 slots, 60 to 70 % of them in use: 7.5 (two steps) or 9 bytes (one step) for
//! a record. Each record is hashed again once for each step.

use std::sync::{Arc, OnceLock};

use crate::Full;
use crate::budget::Budget;
use crate::chunks::Chunks;
use crate::sync::{AtomicU32, AtomicU64, Mutex, Ordering, Patience, lock};
use crate::zeroed::{Zeroable, Zeroed, prefetch};

/// Slots in a bucket.
const SLOTS: usize = if cfg!(loom) { 2 } else { 12 };

/// Words of tags, eight each.
const TAG_WORDS: usize = SLOTS.div_ceil(8);

/// Buckets in the smallest segments.
const BUCKETS: usize = if cfg!(loom) { 1 } else { 256 };

/// A key farther from its first bucket than this asks for a larger segment.
const WINDOW: usize = if cfg!(loom) { 1 } else { 16 };

/// Bits of the hash that choose the segment, at first and at most.
const FIRST_DEPTH: u32 = if cfg!(loom) { 1 } else { 3 };
const LAST_DEPTH: u32 = 26;

/// How many buckets before they are copied records are asked for.
const AHEAD: usize = 3;

const EMPTY: u32 = 0;
const BUSY: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;
const FROZEN: u32 = u32::MAX - 2;

/// The places of records; 0 is not one of them.
pub(crate) const LAST_PLACE: u32 = u32::MAX - 3;

/// What the index knows of the records.
pub(crate) trait Records {
    /// The hash of the record at a place.
    fn hash(&self, place: u32) -> u64;

    /// Brings the record at a place into the cache.
    fn prefetch(&self, place: u32);
}

/// A cache line.
#[repr(C, align(64))]
#[derive(Default)]
struct Bucket {
    tags: [AtomicU64; TAG_WORDS],
    places: [AtomicU32; SLOTS],
}

#[allow(unsafe_code, reason = "a promise on the layout of a bucket")]
// SAFETY: it consists of atomics.
unsafe impl Zeroable for Bucket {}

/// The concurrent index.
pub(crate) struct Index {
    /// For each depth a directory of 2^depth packed [`Segment`]s. Small ones are outgrown, and kept
    /// for threads that are late.
    directories: Box<[OnceLock<Zeroed<AtomicU64>>]>,
    /// Which directory is the present one.
    depth: AtomicU32,
    /// Segments by their size.
    pools: Box<[Pool]>,
    /// Held while segments are replaced, by the first bits of their hashes.
    growing: [Mutex<()>; 1 << FIRST_DEPTH],
    /// Held while the directory is changed.
    publishing: Mutex<()>,
    budget: Arc<Budget>,
}

/// A segment as the directory shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Segment {
    /// Its number in the pool of its size.
    block: u32,
    size: u8,
    /// How many bits of the hash all its keys have in common.
    depth: u8,
}

impl Segment {
    fn pack(self) -> u64 {
        u64::from(self.block) | u64::from(self.size) << 32 | u64::from(self.depth) << 40
    }

    #[inline]
    fn unpack(word: u64) -> Self {
        Self { block: word as u32, size: (word >> 32) as u8, depth: (word >> 40) as u8 }
    }
}

/// What [`Index::find_or_claim`] found.
pub(crate) enum Entry<'a> {
    /// The record is at this place.
    Known(u32),
    /// There is none; it can be put here.
    Vacant(Claim<'a>),
}

/// A slot that waits for a place. If it is dropped without one, the slot stays unused.
pub(crate) struct Claim<'a> {
    slot: &'a AtomicU32,
    place: u32,
}

impl Claim<'_> {
    /// The record was written to this place.
    #[inline]
    pub fn fill(mut self, place: u32) {
        debug_assert!(is_place(place));
        self.place = place;
    }
}

impl Drop for Claim<'_> {
    #[inline]
    fn drop(&mut self) {
        self.slot.store(self.place, Ordering::Release);
    }
}

/// What became of a walk through a segment.
enum Probe<'a> {
    Known(u32),
    Claimed(Claim<'a>),
    /// It needs more room.
    Crowded,
    /// It is being replaced, or was.
    Moved,
}

impl Index {
    /// An index that grows by so many steps for each doubling: more steps keep it smaller and hash
    /// records more often.
    pub fn new(steps: usize, budget: Arc<Budget>) -> Result<Self, Full> {
        let buckets = |step| BUCKETS * (steps + step) / steps;
        let pool = |step| Pool::new(buckets(step), budget.clone());
        let index = Self {
            directories: (0..=LAST_DEPTH).map(|_| OnceLock::new()).collect(),
            depth: AtomicU32::new(FIRST_DEPTH),
            pools: (0..steps).map(pool).collect::<Result<_, _>>()?,
            growing: std::array::from_fn(|_| Mutex::new(())),
            publishing: Mutex::new(()),
            budget,
        };
        for entry in index.reserve_directory(FIRST_DEPTH)? {
            let block = index.pools[0].take()?;
            let segment = Segment { block, size: 0, depth: FIRST_DEPTH as u8 };
            entry.store(segment.pack(), Ordering::Release);
        }
        Ok(index)
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> u64 {
        self.pools.iter().map(Pool::bytes).sum::<u64>() + self.directory_bytes()
    }

    fn directory_bytes(&self) -> u64 {
        let directories = self.directories.iter().filter_map(OnceLock::get);
        directories.map(|it| size_of_val::<[_]>(it) as u64).sum()
    }

    /// Brings the first bucket of a hash into the cache.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let buckets = self.buckets(self.locate(hash));
        prefetch(&buckets[home(hash, buckets.len())]);
    }

    /// Brings the record that probably has this hash into the cache; its bucket should be there.
    #[inline]
    pub fn prefetch_record(&self, hash: u64, records: &impl Records) {
        let buckets = self.buckets(self.locate(hash));
        let bucket = &buckets[home(hash, buckets.len())];
        for (word, tags) in bucket.tags.iter().enumerate() {
            let matching = equal_bytes(tags.load(Ordering::Acquire), tag(hash));
            if matching != 0 {
                let slot = 8 * word + matching.trailing_zeros() as usize / 8;
                let place = bucket.places[slot].load(Ordering::Acquire);
                if is_place(place) {
                    records.prefetch(place);
                }
                return;
            }
        }
    }

    /// The place of the record that has this hash and that `same` recognizes, or else a slot for
    /// it. Threads that look for the same record wait until that slot is filled.
    #[inline]
    pub fn find_or_claim(
        &self,
        hash: u64,
        records: &impl Records,
        same: impl Fn(u32) -> bool,
    ) -> Result<Entry<'_>, Full> {
        loop {
            let segment = self.locate(hash);
            match self.probe(segment, hash, &same) {
                Probe::Known(place) => return Ok(Entry::Known(place)),
                Probe::Claimed(claim) => return Ok(Entry::Vacant(claim)),
                Probe::Crowded => self.grow(segment, hash, records)?,
                // Whoever replaces it holds the lock until it is done.
                Probe::Moved => drop(lock(self.growing(hash))),
            }
        }
    }

    /// The segment of a hash.
    #[inline]
    fn locate(&self, hash: u64) -> Segment {
        let depth = self.depth.load(Ordering::Acquire);
        let directory = self.directory(depth);
        Segment::unpack(directory[prefix(hash, depth)].load(Ordering::Acquire))
    }

    #[inline]
    fn directory(&self, depth: u32) -> &[AtomicU64] {
        self.directories[depth as usize].get().expect("a directory that was published")
    }

    #[inline]
    fn buckets(&self, segment: Segment) -> &[Bucket] {
        self.pools[segment.size as usize].blocks.row(segment.block as usize)
    }

    fn growing(&self, hash: u64) -> &Mutex<()> {
        &self.growing[prefix(hash, FIRST_DEPTH)]
    }

    fn can_grow(&self, segment: Segment) -> bool {
        u32::from(segment.depth) < LAST_DEPTH || usize::from(segment.size) + 1 < self.pools.len()
    }

    #[inline]
    fn probe(&self, segment: Segment, hash: u64, same: &impl Fn(u32) -> bool) -> Probe<'_> {
        let buckets = self.buckets(segment);
        let tag = tag(hash);
        let mut number = home(hash, buckets.len());
        for distance in 0..buckets.len() {
            let bucket = &buckets[number];
            let tags: [u64; TAG_WORDS] =
                std::array::from_fn(|word| bucket.tags[word].load(Ordering::Acquire));
            for (word, &tags) in tags.iter().enumerate() {
                let mut matching = equal_bytes(tags, tag);
                while matching != 0 {
                    let slot = 8 * word + matching.trailing_zeros() as usize / 8;
                    let place = settled(&bucket.places[slot]);
                    if is_place(place) && same(place) {
                        return Probe::Known(place);
                    }
                    matching &= matching - 1;
                }
            }
            for (word, &tags) in tags.iter().enumerate() {
                let mut unknown = equal_bytes(tags, 0);
                while unknown != 0 {
                    let slot = 8 * word + unknown.trailing_zeros() as usize / 8;
                    let Some(slot) = bucket.places.get(slot) else { break };
                    let crowded = distance >= WINDOW && self.can_grow(segment);
                    match if crowded { settled(slot) } else { replace_empty(slot, BUSY) } {
                        EMPTY if crowded => return Probe::Crowded,
                        EMPTY if self.locate(hash) != segment => {
                            slot.store(EMPTY, Ordering::Release);
                            return Probe::Moved;
                        }
                        EMPTY => {
                            let shifted = u64::from(tag) << (unknown.trailing_zeros() & !7);
                            bucket.tags[word].fetch_or(shifted, Ordering::Release);
                            return Probe::Claimed(Claim { slot, place: DEAD });
                        }
                        FROZEN => return Probe::Moved,
                        place if is_place(place) && same(place) => return Probe::Known(place),
                        _ => {}
                    }
                    unknown &= unknown - 1;
                }
            }
            number = if number + 1 == buckets.len() { 0 } else { number + 1 };
        }
        Probe::Crowded
    }

    /// Replaces a segment by a larger one or by two.
    #[cold]
    fn grow(&self, old: Segment, hash: u64, records: &impl Records) -> Result<(), Full> {
        let _growing = lock(self.growing(hash));
        if self.locate(hash) != old {
            return Ok(());
        }
        if !self.can_grow(old) {
            return Err(Full::Memory);
        }
        // All that can fail comes before anything is changed.
        let new = if usize::from(old.size) + 1 < self.pools.len() {
            let size = old.size + 1;
            [Segment { block: self.pools[usize::from(size)].take()?, size, ..old }; 2]
        } else {
            let depth = old.depth + 1;
            self.reserve_directory(depth.into())?;
            let first = self.pools[0].take()?;
            let second = self.pools[0].take().inspect_err(|_| self.pools[0].put(first))?;
            [first, second].map(|block| Segment { block, size: 0, depth })
        };

        let buckets = self.buckets(old);
        for slot in buckets.iter().flat_map(|bucket| &bucket.places) {
            replace_empty(slot, FROZEN);
        }
        let places = |bucket: &Bucket| -> [u32; SLOTS] {
            std::array::from_fn(|slot| bucket.places[slot].load(Ordering::Acquire))
        };
        let second_half = |hash| prefix(hash, u32::from(old.depth) + 1) & 1;
        let targets = new.map(|segment| self.buckets(segment));
        for (number, bucket) in buckets.iter().enumerate() {
            if let Some(next) = buckets.get(number + AHEAD) {
                places(next)
                    .into_iter()
                    .filter(|&it| is_place(it))
                    .for_each(|it| records.prefetch(it));
            }
            for place in places(bucket).into_iter().filter(|&place| is_place(place)) {
                let hash = records.hash(place);
                copy(targets[second_half(hash)], hash, place);
            }
        }
        self.publish(old, new, hash);
        self.pools[usize::from(old.size)].recycle(old.block);
        Ok(())
    }

    /// Shows the new segments in place of the old one.
    fn publish(&self, old: Segment, new: [Segment; 2], hash: u64) {
        let _publishing = lock(&self.publishing);
        let mut depth = self.depth.load(Ordering::Relaxed);
        if u32::from(new[0].depth) > depth {
            let half = self.directory(depth);
            for (number, entry) in self.directory(depth + 1).iter().enumerate() {
                entry.store(half[number / 2].load(Ordering::Relaxed), Ordering::Relaxed);
            }
            depth += 1;
            self.depth.store(depth, Ordering::Release);
        }
        // Its entries are those whose first bits are its own: one or several.
        let count = 1 << (depth - u32::from(old.depth));
        let first = prefix(hash, old.depth.into()) * count;
        for (number, entry) in self.directory(depth)[first..first + count].iter().enumerate() {
            entry.store(new[2 * number / count].pack(), Ordering::Release);
        }
    }

    /// Makes sure that there is a directory for this depth.
    fn reserve_directory(&self, depth: u32) -> Result<&[AtomicU64], Full> {
        let _publishing = lock(&self.publishing);
        let directory = &self.directories[depth as usize];
        if directory.get().is_none() {
            self.budget.take((size_of::<AtomicU64>() as u64) << depth)?;
        }
        Ok(directory.get_or_init(|| Zeroed::new(1 << depth)))
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        let bytes = self.directory_bytes();
        self.directories = Box::default();
        self.budget.give_back(bytes);
    }
}

/// Memory for segments of one size.
struct Pool {
    blocks: Chunks<Bucket>,
    free: Mutex<Free>,
    budget: Arc<Budget>,
}

struct Free {
    /// Used before, and zeroes again.
    list: Vec<u32>,
    /// Never used are those from this one on.
    fresh: u32,
}

/// What the list of free segments may take for each, also while it doubles.
const FREE_BYTES: u64 = 12;

impl Pool {
    fn new(buckets: usize, budget: Arc<Budget>) -> Result<Self, Full> {
        let blocks = Chunks::of_rows(buckets, 1 << LAST_DEPTH, 1, budget.clone())?;
        Ok(Self { blocks, free: Mutex::new(Free { list: Vec::new(), fresh: 0 }), budget })
    }

    fn bytes(&self) -> u64 {
        self.blocks.bytes() + u64::from(lock(&self.free).fresh) * FREE_BYTES
    }

    fn take(&self) -> Result<u32, Full> {
        let mut free = lock(&self.free);
        if let Some(block) = free.list.pop() {
            return Ok(block);
        }
        self.blocks.ensure(free.fresh as usize)?;
        self.budget.take(FREE_BYTES)?;
        free.fresh += 1;
        Ok(free.fresh - 1)
    }

    /// Takes back a segment that was not used.
    fn put(&self, block: u32) {
        lock(&self.free).list.push(block);
    }

    /// Takes back a segment that the directory does not show any more. It has no empty slots, hence
    /// none becomes busy until it is a zero again.
    fn recycle(&self, block: u32) {
        for bucket in self.blocks.row(block as usize) {
            bucket.tags.iter().for_each(|tags| tags.store(0, Ordering::Relaxed));
            bucket.places.iter().for_each(|place| place.store(EMPTY, Ordering::Release));
        }
        self.put(block);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let fresh = std::mem::take(&mut lock(&self.free).fresh);
        self.budget.give_back(u64::from(fresh) * FREE_BYTES);
    }
}

/// Puts a place into a segment that the directory does not show yet, and that has room. Threads that
/// are late may claim slots of it for a moment.
fn copy(buckets: &[Bucket], hash: u64, place: u32) {
    let mut number = home(hash, buckets.len());
    loop {
        let bucket = &buckets[number];
        for (word, tags) in bucket.tags.iter().enumerate() {
            let before = tags.load(Ordering::Relaxed);
            let mut free = equal_bytes(before, 0);
            while free != 0 {
                let byte = free.trailing_zeros() as usize / 8;
                let Some(slot) = bucket.places.get(8 * word + byte) else { break };
                if replace_empty(slot, place) == EMPTY {
                    tags.store(before | u64::from(tag(hash)) << (8 * byte), Ordering::Relaxed);
                    return;
                }
                free &= free - 1;
            }
        }
        number = if number + 1 == buckets.len() { 0 } else { number + 1 };
    }
}

fn is_place(place: u32) -> bool {
    place != EMPTY && place <= LAST_PLACE
}

/// Replaces the content of an empty slot; what it held before, once the thread that fills it, or
/// gives it up, is done.
#[inline]
fn replace_empty(slot: &AtomicU32, content: u32) -> u32 {
    loop {
        match slot.compare_exchange(EMPTY, content, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return EMPTY,
            Err(_) => match settled(slot) {
                EMPTY => {}
                there => return there,
            },
        }
    }
}

/// What a slot holds, once the thread that fills it is done.
#[inline]
fn settled(slot: &AtomicU32) -> u32 {
    let mut patience = Patience::new();
    loop {
        match slot.load(Ordering::Acquire) {
            BUSY => patience.wait(),
            place => return place,
        }
    }
}

/// The tag of a hash, from its last bits; 0 means none.
#[inline]
fn tag(hash: u64) -> u8 {
    (hash as u8).max(1)
}

/// The bucket of a hash, from the bits before.
#[inline]
fn home(hash: u64, buckets: usize) -> usize {
    let bits = hash >> 8 & 0xff_ffff;
    ((bits * buckets as u64) >> 24) as usize
}

/// The first bits of a hash, bent so that they are not all equally frequent: by a parabola whose
/// slope goes from 2/3 to 4/3.
#[inline]
pub(crate) fn prefix(hash: u64, depth: u32) -> usize {
    const BEND: u64 = (1 << 32) / 3;
    let bits = hash >> 32;
    let bow = (bits * (0xffff_ffff - bits)) >> 32;
    let bent = bits - ((bow * BEND) >> 32);
    (bent >> (32 - depth)) as usize
}

/// The top bits of those bytes of a word that equal `byte`.
#[inline]
pub(crate) fn equal_bytes(word: u64, byte: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let difference = word ^ u64::from_ne_bytes([byte; 8]);
    !(((difference & LOW) + LOW) | difference | LOW)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::interner::hash;

    /// Records that are their own places.
    struct Numbers(fn(u64) -> u64);

    impl Records for Numbers {
        fn hash(&self, place: u32) -> u64 {
            (self.0)(place.into())
        }

        fn prefetch(&self, _: u32) {}
    }

    fn insert(index: &Index, numbers: &Numbers, number: u32) -> Result<bool, Full> {
        let hash = numbers.hash(number);
        match index.find_or_claim(hash, numbers, |place| place == number)? {
            Entry::Known(place) => {
                assert_eq!(place, number);
                Ok(false)
            }
            Entry::Vacant(claim) => {
                claim.fill(number);
                Ok(true)
            }
        }
    }

    #[test]
    fn it_stays_small_at_any_size() {
        for (steps, bytes) in [(1, 10.0), (2, 9.0)] {
            let index = Index::new(steps, Arc::new(Budget::new(None))).unwrap();
            let numbers = Numbers(hash);
            for number in 1..1_000_000 {
                assert_eq!(insert(&index, &numbers, number), Ok(true));
                if number > 100_000 && number % 10_000 == 0 {
                    let per_record = index.bytes() as f64 / f64::from(number);
                    assert!(per_record < bytes, "{steps} steps, {number} records: {per_record}");
                }
            }
            for number in 1..1_000_000 {
                assert_eq!(insert(&index, &numbers, number), Ok(false));
            }
        }
    }

    #[test]
    fn a_bad_hash_is_slow_but_right() {
        let index = Index::new(2, Arc::new(Budget::new(Some(64 << 20)))).unwrap();
        // All in one segment until the budget, or the bits of the hash, are used up.
        let numbers = Numbers(|number| number % 3);
        let there =
            (1..5000).filter(|&number| insert(&index, &numbers, number) == Ok(true)).count();
        assert!(there >= 100, "{there}");
        let found = (1..5000).filter(|&number| insert(&index, &numbers, number) == Ok(false));
        assert_eq!(found.count(), there);
    }

    #[test]
    fn a_claim_that_is_given_up_is_no_record() {
        let index = Index::new(1, Arc::new(Budget::new(None))).unwrap();
        let numbers = Numbers(hash);
        drop(index.find_or_claim(hash(5), &numbers, |_| true).unwrap());
        assert_eq!(insert(&index, &numbers, 5), Ok(true));
        assert_eq!(insert(&index, &numbers, 5), Ok(false));
    }
}
