//! Keys as they are, in the table itself, for one owner.
//!
//! *Idea*: where nobody needs numbers for keys, a key can lie in its slot, so that to find it costs
//! one wait for memory, and a slot costs nothing but the key and a byte. Keys of as many words share
//! tables: *segments* of some hundred slots, found through a directory by the first bits of the hash
//! (Fagin and others, *Extendible hashing*, 1979). A segment begins with a tag for each slot, eight in
//! a word, so that what is compared is mostly the key looked for. One that became too full is replaced by
//! one half as large again, and that one by two. The hash chooses the segment as in [`Index`](crate::index::Index), bent a little, so
//! that segments do not all grow at the same time.
//!
//! *Invariant*: a key lies in the first group of eight slots, from the one that its hash chooses on,
//! that had room when it came, and keys are never removed; so a group with room ends the look for it.
//!
//! *Cost*: the bytes of a key, up to 8 to fill words, and one, in slots of which four fifths are in use.
//! A key is hashed again about twice for each doubling of the set.

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

/// Words in a line of the cache.
const WORDS_OF_LINE: usize = 8;

/// Keys of more words are kept on the heap.
const MAX_WORDS: usize = 512;

/// Bits of the hash that choose the segment, at most.
const MAX_DEPTH: u32 = 28;

/// What a key on the heap takes besides its bytes, about, also while their table doubles.
const HEAP_BYTES: u64 = 96;

/// How full the table of a [`Flat`] may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// Not very: keys are found soon.
    Fast,
    /// As full as can be borne.
    Small,
}

/// A set of keys that nobody else uses.
pub struct Flat {
    density: Density,
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
    pub fn new(density: Density, budget: &Arc<Budget>) -> Self {
        Self {
            density,
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
            let table = class.table_of(hash);
            prefetch(table.tags(table.home(hash)));
        }
    }

    /// Brings into the cache the slot where a key probably is, or will be. To be called some time
    /// after [`prefetch`](Self::prefetch).
    #[inline]
    pub fn prefetch_key(&self, len: usize, hash: u64) {
        if let Some(Some(class)) = self.classes.get(word_count(len)) {
            let table = class.table_of(hash);
            let group = table.home(hash);
            let tags = table.tags(group).load(Ordering::Relaxed);
            let candidates = match equal_bytes(tags, tag(hash)) {
                0 => equal_bytes(tags, 0),
                matching => matching,
            };
            if candidates != 0 {
                let slot = table.slot(group, first(candidates));
                slot.iter().step_by(WORDS_OF_LINE).for_each(prefetch);
                slot.last().into_iter().for_each(prefetch);
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
            let segment = class.segment_of(hash);
            match class.table(segment).find(key, hash) {
                Place::Known => return Ok(false),
                Place::Free(group, slot) if class.use_slot(segment) => {
                    class.table(segment).fill(group, slot, hash, key);
                    self.len += 1;
                    return Ok(true);
                }
                _ => self.taken += class.grow(hash, &self.budget)?,
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
        self.classes[words] = Some(Class::new(words, self.density, &self.budget)?);
        Ok(())
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> u64 {
        self.taken + self.classes.iter().flatten().map(Class::bytes).sum::<u64>()
    }
}

impl Drop for Flat {
    fn drop(&mut self) {
        self.budget.give_back(self.taken);
    }
}

/// The keys of as many words.
struct Class {
    density: Density,
    /// Words of a key; 0 if they are packed.
    words: usize,
    /// Memory for segments, by their size.
    pools: [Pool; SIZES],
    /// By the first `depth` bits of a hash: its segment.
    directory: Vec<Segment>,
    depth: u32,
    /// Room for a key of a segment that is replaced.
    replaced: Vec<u8>,
}

/// Sizes of segments: one, and half as much again.
const SIZES: usize = 2;

/// Memory for segments of one size: the tags of all slots, then the slots.
struct Pool {
    /// Groups in a segment.
    groups: usize,
    rows: Chunks<AtomicU64>,
    /// By row.
    fills: Vec<Fill>,
    /// Rows that were used before, and are zeroes again.
    free: Vec<u32>,
}

/// How a segment is filled.
#[derive(Clone, Copy)]
struct Fill {
    /// Slots in use.
    used: u32,
    /// How many bits of the hash all its keys have in common.
    depth: u32,
}

impl Pool {
    /// An empty segment for keys that have so many bits of the hash in common.
    fn take(&mut self, depth: u32) -> Result<u32, OutOfMemory> {
        let empty = Fill { used: 0, depth };
        if let Some(row) = self.free.pop() {
            self.fills[row as usize] = empty;
            return Ok(row);
        }
        self.rows.ensure(self.fills.len())?;
        self.fills.push(empty);
        Ok(self.fills.len() as u32 - 1)
    }
}

/// Where a segment is: a row in the pool of its size.
#[derive(Clone, Copy)]
struct Segment(u32);

impl Segment {
    fn new(size: usize, row: u32) -> Self {
        Self(row * SIZES as u32 + size as u32)
    }

    #[inline(always)]
    fn size(self) -> usize {
        self.0 as usize % SIZES
    }

    #[inline(always)]
    fn row(self) -> usize {
        self.0 as usize / SIZES
    }
}

/// The slots of a segment.
#[derive(Clone, Copy)]
struct Table<'a> {
    /// Words of a key; 0 if they are packed.
    words: usize,
    groups: usize,
    row: &'a [AtomicU64],
}

/// Where a key is.
enum Place {
    Known,
    /// It is not there, and this slot of this group is free.
    Free(usize, usize),
    /// It is not there, and no slot is free.
    Full,
}

impl<'a> Table<'a> {
    /// The group that a hash chooses, by bits that choose nothing else.
    #[inline(always)]
    fn home(self, hash: u64) -> usize {
        ((u64::from(hash as u32) * self.groups as u64) >> 32) as usize
    }

    #[inline(always)]
    fn after(self, group: usize) -> usize {
        if group + 1 == self.groups { 0 } else { group + 1 }
    }

    /// The tags of a group.
    #[inline(always)]
    fn tags(self, group: usize) -> &'a AtomicU64 {
        &self.row[group]
    }

    /// The words that a slot of a group is in.
    #[inline(always)]
    fn slot(self, group: usize, slot: usize) -> &'a [AtomicU64] {
        if self.words == 0 {
            let start = self.groups + PACKED_WORDS * group + slot * PACKED_BITS / 64;
            let last = self.groups + PACKED_WORDS * group + ((slot + 1) * PACKED_BITS - 1) / 64;
            return &self.row[start..=last];
        }
        &self.row[self.groups + (GROUP * group + slot) * self.words..][..self.words]
    }

    /// Whether a slot holds a key.
    #[inline]
    fn holds(self, group: usize, slot: usize, key: &[u8]) -> bool {
        if self.words == 0 {
            return self.packed(group, slot) == pack(key);
        }
        let words = self.slot(group, slot).iter().zip(words_of(key));
        words.fold(true, |all, (a, b)| all & (a.load(Ordering::Relaxed) == b))
    }

    /// The packed key of a slot.
    #[inline]
    fn packed(self, group: usize, slot: usize) -> u64 {
        let words = self.slot(group, slot);
        let shift = slot * PACKED_BITS % 64;
        let mut bits = words[0].load(Ordering::Relaxed) >> shift;
        if let Some(rest) = words.get(1) {
            bits |= rest.load(Ordering::Relaxed) << (64 - shift);
        }
        bits & ((1 << PACKED_BITS) - 1)
    }

    /// Writes a packed key into a slot that is zero.
    #[inline]
    fn write_packed(self, group: usize, slot: usize, key: u64) {
        let words = self.slot(group, slot);
        let shift = slot * PACKED_BITS % 64;
        let before = words[0].load(Ordering::Relaxed);
        words[0].store(before | key << shift, Ordering::Relaxed);
        if let Some(rest) = words.get(1) {
            let before = rest.load(Ordering::Relaxed);
            rest.store(before | key >> (64 - shift), Ordering::Relaxed);
        }
    }

    #[inline]
    fn find(self, key: &[u8], hash: u64) -> Place {
        let mut group = self.home(hash);
        for _ in 0..self.groups {
            let tags = self.tags(group).load(Ordering::Relaxed);
            let mut matching = equal_bytes(tags, tag(hash));
            while matching != 0 {
                if self.holds(group, first(matching), key) {
                    return Place::Known;
                }
                matching &= matching - 1;
            }
            let free = equal_bytes(tags, 0);
            if free != 0 {
                return Place::Free(group, first(free));
            }
            group = self.after(group);
        }
        Place::Full
    }

    #[inline]
    fn fill(self, group: usize, slot: usize, hash: u64, key: &[u8]) {
        let tags = self.tags(group);
        let marked = tags.load(Ordering::Relaxed) | u64::from(tag(hash)) << (8 * slot);
        tags.store(marked, Ordering::Relaxed);
        if self.words == 0 {
            return self.write_packed(group, slot, pack(key));
        }
        for (to, word) in self.slot(group, slot).iter().zip(words_of(key)) {
            to.store(word, Ordering::Relaxed);
        }
    }

    /// Copies the key of a slot.
    fn read(self, group: usize, slot: usize, key: &mut Vec<u8>) {
        key.clear();
        if self.words == 0 {
            unpack(self.packed(group, slot), key);
        } else {
            for word in self.slot(group, slot) {
                key.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
            }
            let rest = key.last().map_or(0, |&rest| usize::from(rest));
            key.truncate(key.len() - 8 + rest);
        }
    }

    /// Puts a key that is not there into a segment with room.
    fn put(self, hash: u64, key: &[u8]) {
        let mut group = self.home(hash);
        loop {
            let free = equal_bytes(self.tags(group).load(Ordering::Relaxed), 0);
            if free != 0 {
                return self.fill(group, first(free), hash, key);
            }
            group = self.after(group);
        }
    }
}

impl Class {
    fn new(words: usize, density: Density, budget: &Arc<Budget>) -> Result<Self, Full> {
        let group = 1 + slots_words(words);
        let usual = (SEGMENT / size_of::<u64>() / group).max(2);
        let pool = |groups: usize| {
            let width = groups * group;
            let rows = Chunks::of_rows(width, 1 << MAX_DEPTH, 1, budget.clone())?;
            Ok::<_, Full>(Pool { groups, rows, fills: Vec::new(), free: Vec::new() })
        };
        let mut pools = [pool(usual)?, pool(usual + usual / 2)?];
        let directory = vec![Segment::new(0, pools[0].take(0)?)];
        Ok(Self { density, words, pools, directory, depth: 0, replaced: Vec::new() })
    }

    fn bytes(&self) -> u64 {
        self.pools.iter().map(|pool| pool.rows.bytes()).sum()
    }

    #[inline(always)]
    fn segment_of(&self, hash: u64) -> Segment {
        self.directory[prefix(hash, self.depth)]
    }

    #[inline(always)]
    fn table(&self, segment: Segment) -> Table<'_> {
        let Pool { groups, rows, .. } = &self.pools[segment.size()];
        Table { words: self.words, groups: *groups, row: rows.row(segment.row()) }
    }

    /// The segment of a hash.
    #[inline(always)]
    fn table_of(&self, hash: u64) -> Table<'_> {
        self.table(self.segment_of(hash))
    }

    #[inline]
    fn fill_of(&mut self, segment: Segment) -> &mut Fill {
        &mut self.pools[segment.size()].fills[segment.row()]
    }

    /// Counts a slot as used, unless a larger segment is due.
    #[inline]
    fn use_slot(&mut self, segment: Segment) -> bool {
        let slots = GROUP * self.pools[segment.size()].groups;
        let spare = match self.density {
            Density::Fast => 3 * slots / 16,
            Density::Small => slots.div_ceil(16),
        };
        let fill = self.fill_of(segment);
        let room = (fill.used as usize) < slots - spare;
        fill.used += u32::from(room);
        room
    }

    /// Replaces the segment of a hash by a larger one or by two; how many bytes that took besides
    /// those of the segments.
    #[cold]
    fn grow(&mut self, hash: u64, budget: &Budget) -> Result<u64, Full> {
        let old = self.segment_of(hash);
        let depth = self.fill_of(old).depth;
        // All that can fail comes before anything is changed.
        let taken = self.bytes_to_grow(old, depth);
        budget.take(taken)?;
        let new = self.successors(old, depth).inspect_err(|_| budget.give_back(taken))?;
        let mut key = std::mem::take(&mut self.replaced);
        let table = self.table(old);
        let targets = new.map(|segment| self.table(segment));
        let mut used = [0; 2];
        for group in 0..table.groups {
            let tags = table.tags(group).load(Ordering::Relaxed);
            for slot in (0..GROUP).filter(|slot| tags >> (8 * slot) & 0xff != 0) {
                table.read(group, slot, &mut key);
                let hash = Flat::hash(&key);
                let half = prefix(hash, depth + 1) & 1;
                targets[half].put(hash, &key);
                used[half] += 1;
            }
        }
        table.row.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.replaced = key;
        self.pools[old.size()].free.push(old.row() as u32);
        self.fill_of(new[0]).used += used[0];
        self.fill_of(new[1]).used += used[1];
        self.publish(new, depth, hash);
        Ok(taken)
    }

    /// Whether a segment is replaced by a larger one.
    fn grows_in_steps(&self, old: Segment) -> bool {
        self.density == Density::Small && old.size() == 0
    }

    /// What replaces a segment: a larger one, or two for a half of its hashes each.
    fn successors(&mut self, old: Segment, depth: u32) -> Result<[Segment; 2], Full> {
        if self.grows_in_steps(old) {
            return Ok([Segment::new(1, self.pools[1].take(depth)?); 2]);
        }
        if depth == MAX_DEPTH {
            return Err(Full::Memory);
        }
        let pool = &mut self.pools[0];
        let first = pool.take(depth + 1)?;
        let second = pool.take(depth + 1).inspect_err(|OutOfMemory| pool.free.push(first))?;
        Ok([first, second].map(|row| Segment::new(0, row)))
    }

    /// Bytes that it takes to replace a segment, besides those of the new ones.
    fn bytes_to_grow(&self, old: Segment, depth: u32) -> u64 {
        let doubles = !self.grows_in_steps(old) && depth == self.depth;
        let entries = if doubles { self.directory.len() * size_of::<Segment>() } else { 0 };
        // Lists may have room for twice as many.
        (entries + 2 * size_of::<(Fill, u32)>()) as u64
    }

    /// Has each half of the hashes of a segment find what replaces it.
    fn publish(&mut self, new: [Segment; 2], depth: u32, hash: u64) {
        if new[0].size() == 0 && depth == self.depth {
            self.directory = self.directory.iter().flat_map(|&segment| [segment; 2]).collect();
            self.depth += 1;
        }
        let count = 1 << (self.depth - depth);
        let first = prefix(hash, depth) * count;
        let (lower, upper) = self.directory[first..first + count].split_at_mut(count.div_ceil(2));
        lower.fill(new[0]);
        upper.fill(new[1]);
    }
}

/// The first of the bytes whose top bits are marked.
#[inline]
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// How many words a key of so many bytes takes; 0 if it can be packed.
#[inline]
fn word_count(bytes: usize) -> usize {
    if bytes == PACKED_BYTES { 0 } else { bytes / 8 + 1 }
}

/// Keys of so many bytes are packed: eight of them into five words.
pub(crate) const PACKED_BYTES: usize = 5;
const PACKED_BITS: usize = 8 * PACKED_BYTES;
const PACKED_WORDS: usize = GROUP * PACKED_BITS / 64;

/// How many words the slots of a group take.
fn slots_words(words: usize) -> usize {
    if words == 0 { PACKED_WORDS } else { GROUP * words }
}

#[inline]
fn pack(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..PACKED_BYTES].copy_from_slice(key);
    u64::from_le_bytes(bytes)
}

fn unpack(packed: u64, key: &mut Vec<u8>) {
    key.extend_from_slice(&packed.to_le_bytes()[..PACKED_BYTES]);
}

/// The tag of a hash, from bits that choose nothing else but in very large sets; 0 means none.
#[inline]
fn tag(hash: u64) -> u8 {
    ((hash >> 32) as u8).max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_set() {
        for density in [Density::Fast, Density::Small] {
            is_a_set(density);
        }
    }

    fn is_a_set(density: Density) {
        let budget = Arc::new(Budget::new(None));
        let mut flat = Flat::new(density, &budget);
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
        let limits =
            [(Density::Fast, 23, 52.0), (Density::Small, 23, 38.0), (Density::Small, 5, 9.5)];
        for (density, bytes, limit) in limits {
            let budget = Arc::new(Budget::new(None));
            let mut flat = Flat::new(density, &budget);
            for number in 0..1_000_000_u64 {
                let mut key = number.to_le_bytes().to_vec();
                key.resize(bytes, 0);
                assert_eq!(flat.insert(&key, Flat::hash(&key)), Ok(true));
                if number > 100_000 && number.is_multiple_of(10_000) {
                    let per_key = flat.bytes() as f64 / number as f64;
                    assert!(per_key < limit, "{density:?}, {number} keys of {bytes}: {per_key}");
                }
            }
        }
    }

    #[test]
    fn a_full_budget_loses_nothing() {
        let budget = Arc::new(Budget::new(Some(1 << 20)));
        let mut flat = Flat::new(Density::Fast, &budget);
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
