//! Keys as they are, in the table itself, for one owner.
//!
//! *Idea*: where nobody needs numbers for keys, a key can lie in its slot, so that to find it costs
//! one wait for memory, and a slot costs nothing but the key and a byte. Keys of as many bytes share
//! tables: *segments* of some hundred slots, found through a directory by the first bits of the hash
//! (Fagin and others, *Extendible hashing*, 1979). A segment begins with a tag for each slot, sixteen in
//! a group, so that what is compared is mostly the key looked for. One that became too full is
//! replaced by two. The hash chooses the segment as in [`Index`](crate::index::Index), bent a little,
//! so that segments do not all grow at the same time.
//!
//! *Invariant*: a key lies in the first group of slots, from the one that its hash chooses on, that
//! had room when it came, and keys are never removed; so a group with room ends the look for it.
//!
//! *Cost*: the bytes of a key and one more, in slots of which some two thirds are in use. A key is
//! hashed again about once.

#![allow(unsafe_code, reason = "this is done for each transition; each block says why it is sound")]

use std::collections::HashSet;
use std::sync::Arc;

use crate::Full;
use crate::budget::Budget;
use crate::index::prefix;
use crate::zeroed::{Block, equal, prefetch, trim};

/// Slots in a group.
const GROUP: usize = 16;

/// Words of the tags of a group.
const TAGS: usize = GROUP / 8;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// Words of a segment.
const SEGMENT: usize = 1 << 12;

/// For how many keys waits for memory overlap.
const TOGETHER: usize = 32;

/// Before so many groups of these are looked up, they are asked for themselves: another processor may have made them.
const AHEAD: usize = 3;

/// Bytes in a line of the cache.
const LINE: usize = 64;

/// Bits of the hash that choose the segment, at most.
const MAX_DEPTH: u32 = 28;

/// Keys of more bytes are kept on the heap: a segment has room for few of them.
const MAX_BYTES: usize = 1000;

/// What a key on the heap takes besides its bytes, about, also while their table doubles.
const HEAP_BYTES: usize = 96;

/// How full the table of a [`Flat`] may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// Not very: keys are found soon.
    Fast,
    /// As full as can be borne.
    Small,
}

/// Where a key is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spot {
    segment: u32,
    group: u32,
}

/// A set of keys that nobody else uses. A key is a row of words, of which so many bytes, at least one,
/// are its own and the rest are zeroes; keys with the same words have as many bytes.
pub struct Flat {
    density: Density,
    /// By the bytes of a key.
    classes: Vec<Option<Box<Class>>>,
    /// Keys of more than [`MAX_BYTES`].
    large: HashSet<Box<[u64]>>,
    len: u64,
    version: u64,
    /// Memory of segments that were used before, and is zero again.
    free: Vec<Block<SEGMENT>>,
    /// Bytes taken from the budget.
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
            version: 0,
            free: Vec::new(),
            taken: 0,
            budget: budget.clone(),
        }
    }

    /// The hash of a key: two words at a time are multiplied, as in *wyhash* (Wang Yi).
    #[inline(always)]
    pub fn hash(key: &[u64]) -> u64 {
        const SECRETS: [u64; 4] = [
            0xa076_1d64_78bd_642f,
            0xe703_7ed1_a0b4_28db,
            0x8ebc_6af0_9c88_c6e3,
            0x5899_65cc_7537_4cc3,
        ];
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            product as u64 ^ (product >> 64) as u64
        };
        let (pairs, rest) = key.as_chunks::<2>();
        let mut hash = SECRETS[2] ^ key.len() as u64;
        for &[first, second] in pairs {
            hash = fold(first ^ SECRETS[0], second ^ hash) ^ hash.rotate_left(23);
        }
        if let [last] = rest {
            hash = fold(last ^ SECRETS[1], hash);
        }
        fold(hash ^ SECRETS[3], SECRETS[0])
    }

    /// Which of some owners a key with a hash belongs to, by bits that choose nothing else.
    #[inline(always)]
    pub fn owner(hash: u64, owners: usize) -> usize {
        (usize::from(hash as u16) * owners) >> u16::BITS
    }

    /// How many keys.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where a key of so many bytes is looked for. Brings the tags there into the cache.
    #[inline]
    pub fn locate(&self, bytes: usize, hash: u64) -> Spot {
        let Some(Some(class)) = self.classes.get(bytes) else {
            return Spot { segment: u32::MAX, group: 0 };
        };
        class.locate(hash)
    }

    /// Brings into the cache the slot where a key probably is, or will be. To be called some time
    /// after it was [located](Self::locate).
    #[inline]
    pub fn prefetch(&self, bytes: usize, hash: u64, spot: Spot) {
        if let Some(Some(class)) = self.classes.get(bytes)
            && let Some(segment) = class.segments.get(spot.segment as usize)
        {
            segment.prefetch(&class.shape, hash, spot.group as usize);
        }
    }

    /// Changes whenever keys may have been moved, so that they must be located again.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Inserts a key of so many bytes that is located in this version; whether it is new.
    #[inline]
    pub fn insert_at(
        &mut self,
        key: &[u64],
        bytes: usize,
        hash: u64,
        spot: Spot,
    ) -> Result<bool, Full> {
        if let Some(Some(class)) = self.classes.get_mut(bytes)
            && let Some(segment) = class.segments.get_mut(spot.segment as usize)
            && let Some(new) = segment.insert(&class.shape, key, hash, spot.group as usize)
        {
            self.len += u64::from(new);
            return Ok(new);
        }
        self.insert(key, bytes, hash)
    }

    /// Inserts keys of so many bytes, and calls with those that are new, each with its index. Waits for
    /// memory overlap.
    #[inline]
    pub fn insert_all<const W: usize, E: From<Full>>(
        &mut self,
        bytes: usize,
        keys: &[[u64; W]],
        hashes: &[u64],
        mut new: impl FnMut(usize, &[u64; W]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !matches!(self.classes.get(bytes), Some(Some(_))) {
            self.make_class(bytes)?;
        }
        let [mut now, mut later] = [[Spot::default(); TOGETHER]; 2];
        let groups = || keys.chunks(TOGETHER).zip(hashes.chunks(TOGETHER));
        let next = groups().skip(1).map(|(_, hashes)| hashes).chain([&[][..]]);
        let ask_for = |group: usize| {
            ask_for(keys, group);
            ask_for(hashes, group);
        };
        (0..AHEAD).for_each(ask_for);
        self.class(bytes).locate_all(hashes, &mut now);
        for (group, ((keys, hashes), next)) in groups().zip(next).enumerate() {
            ask_for(group + AHEAD);
            let class = self.class(bytes);
            for (&hash, &spot) in hashes.iter().zip(&now) {
                let segment = &class.segments[spot.segment as usize];
                segment.prefetch(&class.shape, hash, spot.group as usize);
            }
            class.locate_all(next, &mut later);
            let mut at = 0;
            while at < keys.len() {
                let class = self.classes[bytes].as_mut().expect("made above");
                let before = group * TOGETHER + at;
                let mut new = |index: usize, key: &_| new(before + index, key);
                let (inserted, count) =
                    class.insert_until_full(&keys[at..], &hashes[at..], &now[at..], &mut new)?;
                self.len += count;
                at += inserted;
                if at < keys.len() {
                    self.grow(bytes, hashes[at])?;
                    // Keys were moved.
                    let class = self.class(bytes);
                    class.locate_all(&hashes[at..], &mut now[at..]);
                    class.locate_all(next, &mut later);
                }
            }
            now = later;
        }
        Ok(())
    }

    #[inline(always)]
    fn class(&self, bytes: usize) -> &Class {
        self.classes[bytes].as_ref().expect("a class that was made")
    }

    /// Inserts a key of so many bytes; whether it is new.
    #[inline]
    pub fn insert(&mut self, key: &[u64], bytes: usize, hash: u64) -> Result<bool, Full> {
        debug_assert_eq!(key.len(), bytes.div_ceil(WORD));
        let new = self.put(key, bytes, hash)?;
        self.len += u64::from(new);
        Ok(new)
    }

    /// Whether a key of so many bytes is there.
    #[inline]
    pub fn contains(&self, key: &[u64], bytes: usize, hash: u64) -> bool {
        match self.classes.get(bytes) {
            Some(Some(class)) => {
                class.segments[class.number(hash)].contains(&class.shape, key, hash)
            }
            _ => self.large.contains(key),
        }
    }

    #[inline(always)]
    fn put(&mut self, key: &[u64], bytes: usize, hash: u64) -> Result<bool, Full> {
        loop {
            let Some(Some(class)) = self.classes.get_mut(bytes) else {
                if bytes > MAX_BYTES {
                    return self.put_large(key);
                }
                self.make_class(bytes)?;
                continue;
            };
            let number = class.number(hash);
            let segment = &mut class.segments[number];
            match segment.insert(&class.shape, key, hash, class.shape.home(hash)) {
                Some(new) => return Ok(new),
                None => self.grow(bytes, hash)?,
            }
        }
    }

    #[cold]
    fn put_large(&mut self, key: &[u64]) -> Result<bool, Full> {
        if self.large.contains(key) {
            return Ok(false);
        }
        self.pay(size_of_val(key) + HEAP_BYTES)?;
        Ok(self.large.insert(key.into()))
    }

    #[cold]
    fn make_class(&mut self, bytes: usize) -> Result<(), Full> {
        if self.classes.len() <= bytes {
            self.pay((bytes + 1 - self.classes.len()) * size_of::<Option<Box<Class>>>())?;
            self.classes.resize_with(bytes + 1, || None);
        }
        self.pay(size_of::<Class>())?;
        let segments = vec![self.segment(0)?];
        let shape = Shape::new(bytes, self.density);
        self.classes[bytes] =
            Some(Box::new(Class { shape, segments, directory: vec![0], depth: 0 }));
        Ok(())
    }

    /// Replaces the segment of a hash by two.
    #[cold]
    fn grow(&mut self, bytes: usize, hash: u64) -> Result<(), Full> {
        self.version += 1;
        let class = self.classes[bytes].as_ref().expect("a class that is full");
        let depth = class.segments[class.number(hash)].depth;
        let directory = if depth == class.depth { class.directory.len() } else { 0 };
        if depth == MAX_DEPTH {
            return Err(Full::Memory);
        }
        // All that can fail comes before anything is changed.
        self.pay(directory * size_of::<u32>())?;
        let lower = self.segment(depth + 1)?;
        let upper = match self.segment(depth + 1) {
            Ok(upper) => upper,
            Err(full) => {
                self.set_free(lower.words);
                return Err(full);
            }
        };
        let class = self.classes[bytes].as_mut().expect("as above");
        let old = class.split(hash, [lower, upper]);
        self.set_free(old);
        Ok(())
    }

    /// An empty segment for keys that have so many bits of the hash in common.
    fn segment(&mut self, depth: u32) -> Result<Segment, Full> {
        let words = match self.free.pop() {
            Some(words) => words,
            None => {
                // Lists may have room for twice as many.
                let lists = 2 * size_of::<(Segment, Block<SEGMENT>)>();
                self.pay(SEGMENT * WORD + lists)?;
                Block::try_new().ok_or(Full::Memory)?
            }
        };
        Ok(Segment { words, used: 0, depth })
    }

    /// Keeps the memory of a segment for another.
    fn set_free(&mut self, mut words: Block<SEGMENT>) {
        words.fill(0);
        self.free.push(words);
    }

    fn give_back(&mut self, bytes: usize) {
        self.taken -= bytes as u64;
        self.budget.give_back(bytes as u64);
    }

    fn pay(&mut self, bytes: usize) -> Result<(), Full> {
        self.budget.take(bytes as u64)?;
        self.taken += bytes as u64;
        Ok(())
    }

    /// Calls for each key with a number of bytes that counts.
    pub fn each(&self, counts: impl Fn(usize) -> bool, mut call: impl FnMut(&[u64])) {
        let mut key = Vec::new();
        for (bytes, class) in self.classes.iter().enumerate() {
            if let Some(class) = class.as_ref().filter(|_| counts(bytes)) {
                let each = |segment: &Segment| segment.each(&class.shape, &mut key, &mut call);
                class.segments.iter().for_each(each);
            }
        }
        self.large.iter().filter(|key| counts(size_of_val(&***key))).for_each(|key| call(key));
    }

    /// Replaces each key with a number of bytes that counts, in all of some sets, by another, which
    /// `call` appends to a list, saying how many bytes it has; unequal ones by unequal ones. `owner` says
    /// by its hash in which set it is put. If there is no room for all, what is left is of no use.
    pub fn replace(
        sets: &mut [&mut Self],
        counts: impl Fn(usize) -> bool,
        owner: impl Fn(u64) -> usize,
        mut call: impl FnMut(&[u64], &mut Vec<u64>) -> Result<usize, Full>,
    ) -> Result<(), Full> {
        let mut key = Vec::new();
        let mut others: Vec<_> = sets.iter().map(|_| Others::default()).collect();
        let mut words = Vec::new();
        let mut add = |sets: &mut [&mut Self], key: &[u64]| {
            words.clear();
            let bytes = call(key, &mut words)?;
            let hash = Self::hash(&words);
            let to = owner(hash);
            others[to].add(&words, bytes, hash);
            if others[to].keys.len() >= TOGETHER {
                sets[to].put_all(&mut others[to])?;
            }
            Ok::<_, Full>(())
        };
        // All that is replaced is taken out first.
        let old: Vec<_> = sets.iter_mut().map(|set| set.take_out(&counts)).collect();
        for (from, Removed { classes, large }) in old.into_iter().enumerate() {
            let mut freed = 0;
            for key in large {
                add(sets, &key)?;
                sets[from].len -= 1;
                freed += size_of_val(&*key) + HEAP_BYTES;
            }
            if freed > 0 {
                // The allocator may keep it till then.
                trim();
                sets[from].give_back(freed);
            }
            for class in classes {
                for segment in class.segments {
                    let mut full = Ok(());
                    segment.each(&class.shape, &mut key, &mut |key| {
                        if full.is_ok() {
                            full = add(sets, key);
                        }
                    });
                    full?;
                    sets[from].len -= u64::from(segment.used);
                    sets[from].set_free(segment.words);
                }
            }
        }
        sets.iter_mut().zip(&mut others).try_for_each(|(set, others)| set.put_all(others))
    }

    /// Takes out all keys with a number of bytes that counts.
    fn take_out(&mut self, counts: impl Fn(usize) -> bool) -> Removed {
        self.version += 1;
        let classes = self.classes.iter_mut().enumerate().filter(|(bytes, _)| counts(*bytes));
        let classes = classes.filter_map(|(_, class)| Some(*class.take()?)).collect();
        let large = self.large.extract_if(|key| counts(size_of_val(&**key))).collect();
        Removed { classes, large }
    }

    fn put_all(&mut self, others: &mut Others) -> Result<(), Full> {
        for &(_, bytes, hash) in &others.keys {
            self.locate(bytes, hash);
        }
        let mut start = 0;
        for &(end, bytes, hash) in &others.keys {
            self.put(&others.words[start..end], bytes, hash)?;
            self.len += 1;
            start = end;
        }
        others.words.clear();
        others.keys.clear();
        Ok(())
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> u64 {
        self.taken
    }
}

impl Drop for Flat {
    fn drop(&mut self) {
        self.classes.clear();
        self.large.clear();
        self.free.clear();
        self.budget.give_back(self.taken);
    }
}

/// Brings a group of elements of a list into the cache, if there is one of that number.
#[inline(always)]
fn ask_for<T>(list: &[T], group: usize) {
    let end = list.len().min((group + 1) * TOGETHER);
    let group = list.get(group * TOGETHER..end).unwrap_or_default();
    let lines = group.as_ptr_range();
    let mut line = lines.start.cast::<u8>();
    while line < lines.end.cast() {
        prefetch(line);
        line = line.wrapping_add(LINE);
    }
}

/// Keys that were taken out of a set.
struct Removed {
    classes: Vec<Class>,
    large: Vec<Box<[u64]>>,
}

/// Keys that are put in place of others together.
#[derive(Default)]
struct Others {
    words: Vec<u64>,
    /// Where each ends, how many bytes it has, and its hash.
    keys: Vec<(usize, usize, u64)>,
}

impl Others {
    fn add(&mut self, key: &[u64], bytes: usize, hash: u64) {
        self.words.extend_from_slice(key);
        self.keys.push((self.words.len(), bytes, hash));
    }
}

/// The keys of as many bytes.
struct Class {
    shape: Shape,
    segments: Vec<Segment>,
    /// By the first `depth` bits of a hash: its segment.
    directory: Vec<u32>,
    depth: u32,
}

/// How the segments of a class are divided: the tags of all slots come first, then the keys.
#[derive(Clone, Copy)]
struct Shape {
    /// Bytes of a key, and the bits of its last word that are not its own.
    bytes: usize,
    unused: usize,
    groups: usize,
    /// Where the keys begin.
    keys: usize,
    /// Slots that may be in use.
    room: u32,
}

/// Some slots.
struct Segment {
    words: Block<SEGMENT>,
    /// Slots in use.
    used: u32,
    /// How many bits of the hash all its keys have in common.
    depth: u32,
}

impl Shape {
    fn new(bytes: usize, density: Density) -> Self {
        // The last word of the last key may reach beyond its end.
        let groups = (SEGMENT - 1) / (TAGS + GROUP * bytes / WORD);
        let slots = GROUP * groups;
        let spare = match density {
            Density::Fast => 3 * slots / 16,
            Density::Small => slots.div_ceil(64),
        };
        let (keys, room) = (TAGS * WORD * groups, (slots - spare) as u32);
        Self { bytes, unused: unused(bytes), groups, keys, room }
    }

    /// The group that a hash chooses, by bits that choose nothing else.
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        ((u64::from(hash as u32) * self.groups as u64) >> 32) as usize
    }

    #[inline(always)]
    fn after(&self, group: usize) -> usize {
        if group + 1 == self.groups { 0 } else { group + 1 }
    }

    /// The first byte of the key of a slot.
    #[inline(always)]
    fn slot(&self, group: usize, slot: usize) -> usize {
        self.keys + (GROUP * group + slot) * self.bytes
    }
}

/// # Safety of the blocks below
/// A group is one of the shape's, as [`Shape::home`] and [`Shape::after`] say, and a slot one of the
/// group's, so that the tags and the key of a slot are within the words of a segment, with a word to spare
/// behind the last key: see [`Shape::new`]. To look at that again for each of them would cost as much as
/// the rest.
impl Segment {
    /// The word that begins with a byte.
    #[inline(always)]
    fn load(&self, byte: usize) -> u64 {
        debug_assert!(byte + WORD <= SEGMENT * WORD);
        // SAFETY: see above.
        u64::from_le(unsafe { self.words.as_ptr().byte_add(byte).read_unaligned() })
    }

    /// Writes a word that begins with a byte.
    #[inline(always)]
    fn store(&mut self, byte: usize, word: u64) {
        debug_assert!(byte + WORD <= SEGMENT * WORD);
        // SAFETY: see above.
        unsafe { self.words.as_mut_ptr().byte_add(byte).write_unaligned(word.to_le()) }
    }

    #[inline(always)]
    fn tags(&self, group: usize) -> [u64; TAGS] {
        debug_assert!(group < SEGMENT / TAGS);
        // SAFETY: see above.
        unsafe { self.words.as_ptr().cast::<[u64; TAGS]>().add(group).read() }
    }

    /// Whether a slot holds a key.
    #[inline(always)]
    fn holds(&self, shape: &Shape, group: usize, slot: usize, key: &[u64]) -> bool {
        let start = shape.slot(group, slot);
        let (&last, words) = key.split_last().expect("a key has a word");
        let mut different = 0;
        for (index, word) in words.iter().enumerate() {
            different |= self.load(start + index * WORD) ^ word;
        }
        let end = self.load(start + words.len() * WORD) ^ last;
        different | end << shape.unused == 0
    }

    /// Writes a key into a slot that is zero.
    #[inline(always)]
    fn fill(&mut self, shape: &Shape, group: usize, slot: usize, hash: u64, key: &[u64]) {
        let tags = TAGS * WORD * group + slot;
        debug_assert!(tags < SEGMENT * WORD);
        // SAFETY: see above.
        unsafe { self.words.as_mut_ptr().cast::<u8>().add(tags).write(tag(hash)) };
        let start = shape.slot(group, slot);
        let (&last, words) = key.split_last().expect("a key has a word");
        for (index, &word) in words.iter().enumerate() {
            self.store(start + index * WORD, word);
        }
        // Without what is behind it.
        let end = start + words.len() * WORD;
        let behind = self.load(end);
        self.store(end, behind | last);
        self.used += 1;
    }

    /// Inserts a key that is looked for from a group on; whether it is new. None: the segment must
    /// grow before.
    #[inline(always)]
    fn insert(&mut self, shape: &Shape, key: &[u64], hash: u64, group: usize) -> Option<bool> {
        let mut group = group;
        loop {
            let tags = self.tags(group);
            let mut matching = equal(tags, tag(hash));
            while matching != 0 {
                if self.holds(shape, group, first(matching), key) {
                    return Some(false);
                }
                matching &= matching - 1;
            }
            let free = equal(tags, 0);
            if free != 0 {
                if self.used == shape.room {
                    return None;
                }
                self.fill(shape, group, first(free), hash, key);
                return Some(true);
            }
            group = shape.after(group);
        }
    }

    /// Whether a key is there.
    #[inline(always)]
    fn contains(&self, shape: &Shape, key: &[u64], hash: u64) -> bool {
        let mut group = shape.home(hash);
        loop {
            let tags = self.tags(group);
            let mut matching = equal(tags, tag(hash));
            while matching != 0 {
                if self.holds(shape, group, first(matching), key) {
                    return true;
                }
                matching &= matching - 1;
            }
            if equal(tags, 0) != 0 {
                return false;
            }
            group = shape.after(group);
        }
    }

    /// Brings the tags of a group into the cache.
    #[inline(always)]
    fn prefetch_tags(&self, group: usize) {
        prefetch(self.words.as_ptr().wrapping_add(TAGS * group));
    }

    /// Brings into the cache the slot where a key that is looked for from a group on probably is, or will
    /// be.
    #[inline(always)]
    fn prefetch(&self, shape: &Shape, hash: u64, group: usize) {
        let tags = self.tags(group);
        let (matching, free) = (equal(tags, tag(hash)), equal(tags, 0));
        let candidates = if matching != 0 { matching } else { free };
        // If there is none, it is some other one.
        let start = shape.slot(group, first(candidates) % GROUP);
        let line = |at: usize| prefetch(self.words.as_ptr().cast::<u8>().wrapping_add(at));
        line(start);
        line(start + shape.bytes - 1);
        if shape.bytes > LINE {
            (start..start + shape.bytes).step_by(LINE).skip(1).for_each(line);
        }
    }

    /// Puts a key that is not there into a segment with room.
    #[inline(always)]
    fn put(&mut self, shape: &Shape, hash: u64, key: &[u64]) {
        let mut group = shape.home(hash);
        loop {
            let free = equal(self.tags(group), 0);
            if free != 0 {
                return self.fill(shape, group, first(free), hash, key);
            }
            group = shape.after(group);
        }
    }

    /// Calls with the first byte of each key.
    #[inline(always)]
    fn each_slot(&self, shape: &Shape, mut call: impl FnMut(usize)) {
        for group in 0..shape.groups {
            let mut used = !equal(self.tags(group), 0) & 0xffff;
            while used != 0 {
                call(shape.slot(group, first(used)));
                used &= used - 1;
            }
        }
    }

    /// Calls for each key, which is read into `key`.
    #[inline(always)]
    fn each(&self, shape: &Shape, key: &mut Vec<u64>, call: &mut impl FnMut(&[u64])) {
        self.each_slot(shape, |start| {
            key.clear();
            for at in (start..start + shape.bytes).step_by(WORD) {
                key.push(self.load(at));
            }
            if let Some(last) = key.last_mut() {
                *last = *last << shape.unused >> shape.unused;
            }
            call(key);
        });
    }

    /// Moves all keys, of so many words, into two segments, by the bit of the hash behind the first
    /// `depth`.
    fn split<const W: usize>(&self, shape: &Shape, depth: u32, new: &mut [Self; 2]) {
        self.each_slot(shape, |start| {
            let mut key: [u64; W] = std::array::from_fn(|at| self.load(start + at * WORD));
            key[W - 1] = key[W - 1] << shape.unused >> shape.unused;
            let hash = Flat::hash(&key);
            new[prefix(hash, depth + 1) & 1].put(shape, hash, &key);
        });
    }

    /// Likewise, of any number of words.
    fn split_any(&self, shape: &Shape, depth: u32, new: &mut [Self; 2]) {
        self.each(shape, &mut Vec::new(), &mut |key| {
            let hash = Flat::hash(key);
            new[prefix(hash, depth + 1) & 1].put(shape, hash, key);
        });
    }
}

/// The bits of the last word that are not a key's own.
#[inline(always)]
fn unused(bytes: usize) -> usize {
    8 * (bytes.wrapping_neg() % WORD)
}

impl Class {
    #[inline(always)]
    fn number(&self, hash: u64) -> usize {
        self.directory[prefix(hash, self.depth)] as usize
    }

    /// Where a hash is looked for. Brings the tags there into the cache.
    #[inline(always)]
    fn locate(&self, hash: u64) -> Spot {
        let number = self.number(hash);
        let group = self.shape.home(hash);
        self.segments[number].prefetch_tags(group);
        Spot { segment: number as u32, group: group as u32 }
    }

    /// Inserts keys until a segment must grow; how many, and how many of them are new.
    #[inline(always)]
    fn insert_until_full<const W: usize, E>(
        &mut self,
        keys: &[[u64; W]],
        hashes: &[u64],
        spots: &[Spot],
        new: &mut impl FnMut(usize, &[u64; W]) -> Result<(), E>,
    ) -> Result<(usize, u64), E> {
        let shape = self.shape;
        let mut count = 0;
        for (at, ((key, &hash), spot)) in keys.iter().zip(hashes).zip(spots).enumerate() {
            let segment = &mut self.segments[spot.segment as usize];
            match segment.insert(&shape, key, hash, spot.group as usize) {
                Some(false) => {}
                Some(true) => {
                    count += 1;
                    new(at, key)?;
                }
                None => return Ok((at, count)),
            }
        }
        Ok((keys.len(), count))
    }

    /// Where each of some hashes is looked for.
    #[inline(always)]
    fn locate_all(&self, hashes: &[u64], spots: &mut [Spot]) {
        for (&hash, spot) in hashes.iter().zip(spots) {
            *spot = self.locate(hash);
        }
    }

    /// Moves the keys of the segment of a hash into two others; its memory.
    fn split(&mut self, hash: u64, new: [Segment; 2]) -> Block<SEGMENT> {
        let mut new = new;
        let number = self.number(hash);
        let (shape, old) = (&self.shape, &self.segments[number]);
        let depth = old.depth;
        match shape.bytes.div_ceil(WORD) {
            1 => old.split::<1>(shape, depth, &mut new),
            2 => old.split::<2>(shape, depth, &mut new),
            3 => old.split::<3>(shape, depth, &mut new),
            4 => old.split::<4>(shape, depth, &mut new),
            5 => old.split::<5>(shape, depth, &mut new),
            6 => old.split::<6>(shape, depth, &mut new),
            _ => old.split_any(shape, depth, &mut new),
        }
        if depth == self.depth {
            self.directory = self.directory.iter().flat_map(|&number| [number; 2]).collect();
            self.depth += 1;
        }
        let count = 1 << (self.depth - depth);
        let start = prefix(hash, depth) * count;
        self.directory[start + count / 2..start + count].fill(self.segments.len() as u32);
        let [lower, upper] = new;
        self.segments.push(upper);
        std::mem::replace(&mut self.segments[number], lower).words
    }
}

/// The first of the slots that are marked.
#[inline(always)]
fn first(marks: u32) -> usize {
    marks.trailing_zeros() as usize
}

/// The tag of a hash, from bits that choose nothing else but in very large sets; 0 means none.
#[inline(always)]
fn tag(hash: u64) -> u8 {
    ((hash >> 32) as u8).max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A key of so many bytes.
    fn key(number: u64, bytes: usize) -> Vec<u64> {
        let mut key = vec![0; bytes.div_ceil(WORD)];
        key[0] = number;
        let last = key.len() - 1;
        key[last] ^= number.rotate_left(7);
        key[last] = key[last] << unused(bytes) >> unused(bytes);
        key
    }

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
            // Keys of several lengths, many of them known.
            let bytes = match number {
                _ if number.is_multiple_of(1000) => 5000 + 8 * (number % 17) as usize,
                _ => 3 + (number % 29) as usize,
            };
            let key = key(number % 100_000, bytes);
            let hash = Flat::hash(&key);
            let spot = flat.locate(bytes, hash);
            flat.prefetch(bytes, hash, spot);
            assert_eq!(flat.contains(&key, bytes, hash), twin.contains(&(bytes, key.clone())));
            let new = match number % 3 {
                0 => flat.insert(&key, bytes, hash),
                _ => flat.insert_at(&key, bytes, hash, spot),
            };
            assert_eq!(new, Ok(twin.insert((bytes, key))));
        }
        assert_eq!(flat.len(), twin.len() as u64);
        let mut seen = 0;
        flat.each(
            |bytes| bytes == 9,
            |key| {
                assert!(twin.contains(&(9, key.to_vec())));
                seen += 1;
            },
        );
        assert_eq!(seen, twin.iter().filter(|(bytes, _)| *bytes == 9).count());
        assert_eq!(flat.bytes(), budget.used());
        drop(flat);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn keys_are_replaced() {
        let budget = Arc::new(Budget::new(None));
        let mut flat = Flat::new(Density::Fast, &budget);
        let insert = |flat: &mut Flat, key: &[u64], bytes| flat.insert(key, bytes, Flat::hash(key));
        for number in 0..50_000 {
            for bytes in [5, 16] {
                assert_eq!(insert(&mut flat, &key(number, bytes), bytes), Ok(true));
            }
        }
        assert_eq!(insert(&mut flat, &key(50_000, 8000), 8000), Ok(true));
        let before = flat.bytes();
        let replaced = Flat::replace(
            &mut [&mut flat],
            |bytes| bytes >= 16,
            |_| 0,
            |key, out| {
                assert!(key.len() > 1, "what was put there is not replaced");
                out.push(key[0] + 1);
                Ok(4)
            },
        );
        assert_eq!((replaced, flat.len()), (Ok(()), 100_001));
        assert_eq!(insert(&mut flat, &[50_001], 4), Ok(false));
        // What was freed was used again.
        assert!(flat.bytes() < before + before / 20);
        for number in 0..50_000 {
            assert_eq!(insert(&mut flat, &key(number, 5), 5), Ok(false));
            assert_eq!(insert(&mut flat, &[number + 1], 4), Ok(false));
            assert_eq!(insert(&mut flat, &key(number, 16), 16), Ok(true));
        }
    }

    #[test]
    fn it_stays_small_at_any_size() {
        let limits =
            [(Density::Fast, 23, 50.0), (Density::Small, 23, 38.0), (Density::Small, 5, 9.5)];
        for (density, bytes, limit) in limits {
            let budget = Arc::new(Budget::new(None));
            let mut flat = Flat::new(density, &budget);
            for number in 0..1_000_000_u64 {
                let key = key(number, bytes);
                assert_eq!(flat.insert(&key, bytes, Flat::hash(&key)), Ok(true));
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
        let insert = |flat: &mut Flat, number| {
            let key = key(number, 24);
            flat.insert(&key, 24, Flat::hash(&key))
        };
        let there = (0..).take_while(|&number| insert(&mut flat, number) == Ok(true)).count();
        assert!(there > 10_000, "{there}");
        assert!((0..there as u64).all(|number| insert(&mut flat, number) == Ok(false)));
        assert!(budget.peak() <= 1 << 20);
    }
}
