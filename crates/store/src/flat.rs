//! Keys as they are, in the table itself, for one owner.
//!
//! *Idea*: where nobody needs numbers for keys, a key can lie in its slot, so that to find it costs
//! one wait for memory, and a slot costs nothing but the key and a byte. Keys of as many words share
//! tables: *segments* of some hundred slots, found through a directory by the first bits of the hash
//! (Fagin and others, *Extendible hashing*, 1979). A segment begins with a tag for each slot, eight in
//! a word, so that what is compared is mostly the key looked for. One that became too full is split
//! in two. The hash chooses the segment as in [`Index`](crate::index::Index), bent a little, so
//! that segments do not all split at the same time.
//!
//! *Invariant*: a key lies in the first group of eight slots, from the one that its hash chooses on,
//! that had room when it came, and keys are never removed; so a group with room ends the look for it.
//!
//! *Cost*: the bytes of a key, up to 8 to fill words, and one, in slots of which some 60 % are in use.
//! A key is hashed again about once when segments are split.

use std::collections::HashSet;
use std::sync::Arc;

use rapidhash::v3::rapidhash_v3;

use crate::Full;
use crate::budget::{Budget, OutOfMemory};
use crate::chunks::Chunks;
use crate::index::{equal_bytes, prefix};
use crate::sync::{AtomicU64, Ordering};
use crate::words::words_of;
use crate::zeroed::prefetch;

/// Slots in a group: as many as there are tags in a word.
const GROUP: usize = 8;

/// Bytes of a segment, if keys are not large.
const SEGMENT: usize = 1 << 15;

/// Keys of more words are kept on the heap.
const MAX_WORDS: usize = 512;

/// Bits of the hash that choose the segment, at most.
const MAX_DEPTH: u32 = 28;

/// What a key on the heap takes besides its bytes, about, also while their table doubles.
const HEAP_BYTES: u64 = 96;

/// A set of keys that nobody else uses.
pub struct Flat {
    /// By the words of a key.
    classes: Vec<Option<Class>>,
    /// Keys of more than [`MAX_WORDS`].
    large: HashSet<Box<[u8]>>,
    len: u64,
    /// Bytes taken for what is not in rows of segments.
    taken: u64,
    budget: Arc<Budget>,
}

impl Flat {
    /// No keys.
    pub fn new(budget: &Arc<Budget>) -> Self {
        Self {
            classes: Vec::new(),
            large: HashSet::new(),
            len: 0,
            taken: 0,
            budget: budget.clone(),
        }
    }

    /// The hash of a key.
    #[inline]
    pub fn hash(key: &[u8]) -> u64 {
        rapidhash_v3(key)
    }

    /// How many keys.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Brings into the cache the tags that inserting a key of this length will look at.
    #[inline]
    pub fn prefetch(&self, len: usize, hash: u64) {
        if let Some(Some(class)) = self.classes.get(word_count(len)) {
            let row = class.row(class.segment_of(hash));
            prefetch(&row[class.home(hash)]);
        }
    }

    /// Brings into the cache the slot where a key probably is, or will be. To be called some time
    /// after [`prefetch`](Self::prefetch).
    #[inline]
    pub fn prefetch_key(&self, len: usize, hash: u64) {
        if let Some(Some(class)) = self.classes.get(word_count(len)) {
            let row = class.row(class.segment_of(hash));
            let group = class.home(hash);
            let tags = row[group].load(Ordering::Relaxed);
            let candidates = match equal_bytes(tags, tag(hash)) {
                0 => equal_bytes(tags, 0),
                matching => matching,
            };
            if candidates != 0 {
                let slot = class.slot(row, group, candidates);
                prefetch(&slot[0]);
                prefetch(&slot[slot.len() - 1]);
            }
        }
    }

    /// Inserts a key; whether it is new.
    #[inline]
    pub fn insert(&mut self, key: &[u8], hash: u64) -> Result<bool, Full> {
        let words = word_count(key.len());
        if words > MAX_WORDS {
            return self.insert_large(key);
        }
        if !matches!(self.classes.get(words), Some(Some(_))) {
            self.make_class(words)?;
        }
        let class = self.classes[words].as_mut().expect("made if it was not there");
        loop {
            let number = class.segment_of(hash);
            match class.find(number, key, hash) {
                Place::Known => return Ok(false),
                Place::Free(group, slot) if class.has_room(number) => {
                    class.fill(number, group, slot, hash, words_of(key));
                    self.len += 1;
                    return Ok(true);
                }
                _ => self.taken += class.split(hash, &self.budget)?,
            }
        }
    }

    #[cold]
    fn insert_large(&mut self, key: &[u8]) -> Result<bool, Full> {
        if self.large.contains(key) {
            return Ok(false);
        }
        let bytes = key.len() as u64 + HEAP_BYTES;
        self.budget.take(bytes)?;
        self.taken += bytes;
        self.len += 1;
        Ok(self.large.insert(key.into()))
    }

    #[cold]
    fn make_class(&mut self, words: usize) -> Result<(), Full> {
        if self.classes.len() <= words {
            self.classes.resize_with(words + 1, || None);
        }
        self.classes[words] = Some(Class::new(words, &self.budget)?);
        Ok(())
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> u64 {
        self.taken + self.classes.iter().flatten().map(|class| class.rows.bytes()).sum::<u64>()
    }
}

impl Drop for Flat {
    fn drop(&mut self) {
        self.budget.give_back(self.taken);
    }
}

/// The keys of as many words.
struct Class {
    /// Words of a key.
    words: usize,
    /// Groups in a segment.
    groups: usize,
    /// Segments: the tags of all slots, then the slots.
    rows: Chunks<AtomicU64>,
    /// By the first `depth` bits of a hash: its segment.
    directory: Vec<u32>,
    depth: u32,
    segments: Vec<Segment>,
    /// Room for a segment that is split.
    split: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Segment {
    /// Slots in use.
    used: u32,
    /// How many bits of the hash all its keys have in common.
    depth: u32,
}

/// Where a key is.
enum Place {
    Known,
    /// It is not there, and this slot of this group is free.
    Free(usize, usize),
    /// It is not there, and no slot is free.
    Full,
}

impl Class {
    fn new(words: usize, budget: &Arc<Budget>) -> Result<Self, Full> {
        let slot = size_of::<u64>() * words + 1;
        let groups = (SEGMENT / (GROUP * slot)).max(1);
        let rows =
            Chunks::of_rows(groups * (1 + GROUP * words), 1 << MAX_DEPTH, 1, budget.clone())?;
        rows.ensure(0)?;
        Ok(Self {
            words,
            groups,
            rows,
            directory: vec![0],
            depth: 0,
            segments: vec![Segment { used: 0, depth: 0 }],
            split: Vec::new(),
        })
    }

    #[inline]
    fn segment_of(&self, hash: u64) -> usize {
        self.directory[prefix(hash, self.depth)] as usize
    }

    #[inline]
    fn row(&self, segment: usize) -> &[AtomicU64] {
        self.rows.row(segment)
    }

    /// The group that a hash chooses, by bits that choose nothing else.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u64::from(hash as u32) * self.groups as u64) >> 32) as usize
    }

    /// The first of the slots of a group that are marked by the top bits of bytes.
    #[inline]
    fn slot<'a>(&self, row: &'a [AtomicU64], group: usize, marks: u64) -> &'a [AtomicU64] {
        let slot = GROUP * group + marks.trailing_zeros() as usize / 8;
        &row[self.groups + slot * self.words..][..self.words]
    }

    fn has_room(&self, segment: usize) -> bool {
        (self.segments[segment].used as usize) < (GROUP * self.groups * 13).div_ceil(16)
    }

    #[inline]
    fn find(&self, segment: usize, key: &[u8], hash: u64) -> Place {
        let row = self.row(segment);
        let mut group = self.home(hash);
        for _ in 0..self.groups {
            let tags = row[group].load(Ordering::Relaxed);
            let mut matching = equal_bytes(tags, tag(hash));
            while matching != 0 {
                let slot = self.slot(row, group, matching);
                if slot.iter().zip(words_of(key)).all(|(a, b)| a.load(Ordering::Relaxed) == b) {
                    return Place::Known;
                }
                matching &= matching - 1;
            }
            let free = equal_bytes(tags, 0);
            if free != 0 {
                return Place::Free(group, free.trailing_zeros() as usize / 8);
            }
            group = if group + 1 == self.groups { 0 } else { group + 1 };
        }
        Place::Full
    }

    #[inline]
    fn fill(
        &mut self,
        segment: usize,
        group: usize,
        slot: usize,
        hash: u64,
        key: impl Iterator<Item = u64>,
    ) {
        let row = self.row(segment);
        let tags = row[group].load(Ordering::Relaxed) | u64::from(tag(hash)) << (8 * slot);
        row[group].store(tags, Ordering::Relaxed);
        let start = self.groups + (GROUP * group + slot) * self.words;
        for (to, word) in row[start..start + self.words].iter().zip(key) {
            to.store(word, Ordering::Relaxed);
        }
        self.segments[segment].used += 1;
    }

    /// Splits the segment of a hash; how many bytes that took besides those of the segments.
    #[cold]
    fn split(&mut self, hash: u64, budget: &Budget) -> Result<u64, Full> {
        let old = self.segment_of(hash);
        let new = self.segments.len();
        let depth = self.segments[old].depth;
        if depth == MAX_DEPTH {
            return Err(Full::Memory);
        }
        // All that can fail comes before anything is changed.
        let doubles = depth == self.depth;
        let entries = if doubles { self.directory.len() * size_of::<u32>() } else { 0 };
        let row_bytes = size_of_val(self.row(old));
        let room = if self.split.is_empty() { row_bytes } else { 0 };
        // Lists may have room for twice as many.
        let taken = (entries + room + 2 * size_of::<Segment>()) as u64;
        budget.take(taken)?;
        self.rows.ensure(new).inspect_err(|OutOfMemory| budget.give_back(taken))?;

        if doubles {
            self.directory = self.directory.iter().flat_map(|&segment| [segment; 2]).collect();
            self.depth += 1;
        }
        let count = 1 << (self.depth - depth);
        let first = prefix(hash, depth) * count;
        self.directory[first + count / 2..first + count].fill(new as u32);
        self.segments[old] = Segment { used: 0, depth: depth + 1 };
        self.segments.push(self.segments[old]);

        let mut all = std::mem::take(&mut self.split);
        all.clear();
        all.extend(self.row(old).iter().map(|word| word.load(Ordering::Relaxed)));
        self.row(old)[..self.groups].iter().for_each(|tags| tags.store(0, Ordering::Relaxed));
        let (tags, slots) = all.split_at(self.groups);
        for (slot, key) in slots.chunks_exact(self.words).enumerate() {
            if tags[slot / GROUP] >> (slot % GROUP * 8) & 0xff != 0 {
                let hash = hash_of(key);
                self.put(if prefix(hash, depth + 1) & 1 == 0 { old } else { new }, hash, key);
            }
        }
        self.split = all;
        Ok(taken)
    }

    /// Puts a key that is not there into a segment with room.
    fn put(&mut self, segment: usize, hash: u64, key: &[u64]) {
        let row = self.row(segment);
        let mut group = self.home(hash);
        loop {
            let free = equal_bytes(row[group].load(Ordering::Relaxed), 0);
            if free != 0 {
                let slot = free.trailing_zeros() as usize / 8;
                return self.fill(segment, group, slot, hash, key.iter().copied());
            }
            group = if group + 1 == self.groups { 0 } else { group + 1 };
        }
    }
}

/// How many words a key of so many bytes takes.
#[inline]
fn word_count(bytes: usize) -> usize {
    bytes / 8 + 1
}

/// The tag of a hash, from bits that choose nothing else but in very large sets; 0 means none.
#[inline]
fn tag(hash: u64) -> u8 {
    ((hash >> 32) as u8).max(1)
}

/// The hash of the key that consists of these words.
fn hash_of(words: &[u64]) -> u64 {
    // To clear more room than is needed would cost more than to hash.
    const USUAL: usize = 16;
    if words.len() <= USUAL {
        hash_in(words, &mut [[0; 8]; USUAL])
    } else {
        hash_in(words, &mut [[0; 8]; MAX_WORDS])
    }
}

fn hash_in(words: &[u64], room: &mut [[u8; 8]]) -> u64 {
    let bytes = &mut room[..words.len()];
    for (bytes, word) in bytes.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    let rest = bytes.last().map_or(0, |last| usize::from(last[7]));
    let bytes = bytes.as_flattened();
    Flat::hash(&bytes[..bytes.len() - 8 + rest])
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_set() {
        let budget = Arc::new(Budget::new(None));
        let mut flat = Flat::new(&budget);
        let mut twin = HashSet::new();
        let mut seed = 1_u64;
        for _ in 0..300_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = seed >> 33;
            // Keys of several lengths, many of them known, some that are others filled up with zeroes.
            let mut key = (number % 100_000).to_le_bytes().to_vec();
            key.resize(4 + (number % 29) as usize, 0);
            if number.is_multiple_of(1000) {
                key.resize(8 * MAX_WORDS + (number % 17) as usize, 7);
            }
            let hash = Flat::hash(&key);
            flat.prefetch(key.len(), hash);
            flat.prefetch_key(key.len(), hash);
            assert_eq!(flat.insert(&key, hash), Ok(twin.insert(key)));
        }
        assert_eq!(flat.len(), twin.len() as u64);
        assert_eq!(flat.bytes(), budget.used());
        drop(flat);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn it_stays_small_at_any_size() {
        let budget = Arc::new(Budget::new(None));
        let mut flat = Flat::new(&budget);
        for number in 0..1_000_000_u64 {
            let mut key = [0; 23];
            key[..8].copy_from_slice(&number.to_le_bytes());
            assert_eq!(flat.insert(&key, Flat::hash(&key)), Ok(true));
            if number > 100_000 && number % 10_000 == 0 {
                let per_key = flat.bytes() as f64 / number as f64;
                assert!(per_key < 50.0, "{number} keys: {per_key}");
            }
        }
    }

    #[test]
    fn a_full_budget_loses_nothing() {
        let budget = Arc::new(Budget::new(Some(1 << 20)));
        let mut flat = Flat::new(&budget);
        let key = |number: u64| [number, 1, 2].map(u64::to_le_bytes).concat();
        let insert = |flat: &mut Flat, number| {
            let key = key(number);
            flat.insert(&key, Flat::hash(&key))
        };
        let there = (0..).take_while(|&number| insert(&mut flat, number) == Ok(true)).count();
        assert!(there > 10_000, "{there}");
        assert!((0..there as u64).all(|number| insert(&mut flat, number) == Ok(false)));
        assert!(budget.peak() <= 1 << 20);
    }
}
