//! From bits of a key to changes.

use super::{Bits, Choice};

/// So many lists of a table are learned at once, to know what they depend on.
const SAMPLES: u32 = 16;

/// So many lookups in a table are judged together.
const WINDOW: u32 = 1024;

/// A window is bad if one of so many lookups found nothing, and worse if every second.
const BAD: u32 = 8;

/// So many bad windows are borne.
const PATIENCE: u32 = 8;

/// All that can be found by so many bits is found in the end, however long it takes.
const FEW_BITS: u32 = 16;

/// Lists of changes. What is needed to find one comes first, in one line of the cache.
#[repr(C, align(64))]
pub(super) struct Table {
    /// The tables that are used instead, if it has bits.
    pub parts: Choice,
    /// A power of two of them, not all in use.
    lists: Vec<List>,
    /// By how much a hash is shifted to be a place.
    shift: u32,
    /// How often something was looked up in this window.
    pub asked: u32,
    /// Whether nothing more is to be learned.
    pub given_up: bool,
    /// Whether too little is found.
    pub exhausted: bool,
    /// How often something was not there in this window, and bad windows before.
    missed: u32,
    bad: u32,
    used: u32,
    pub learned: u32,
    /// How often tables were divided before, and so many bits were looked at in the one that was divided
    /// last, less those by which that was done.
    pub depth: u32,
    pub bits_before: u32,
    /// The bits that are looked at first to compute an index, and otherwise, if they are not the same for all keys.
    pub pivots: [Option<Bits>; 2],
    /// How many bits are looked at that are not the same for all keys.
    pub bits: u32,
}

#[derive(Clone, Copy)]
pub(super) struct List {
    pub bits: u64,
    /// The first of the changes, and how many; or a mark.
    pub start: u32,
    pub count: u32,
}

/// Marks: no list; met once; changes that are not told; something is wrong.
pub(super) const EMPTY: u32 = u32::MAX;
pub(super) const ONCE: u32 = u32::MAX - 1;
pub(super) const UNKNOWN: u32 = u32::MAX - 2;
pub(super) const WRONG: u32 = u32::MAX - 3;
pub(super) const MAX_COUNT: u32 = i32::MAX as u32;

/// With the number of changes: their actor may act alone.
pub(super) const ALONE: u32 = 1 << 30;

const NO_LIST: List = List { bits: 0, start: 0, count: EMPTY };

/// By how much a hash is shifted where there is no list.
const NO_SHIFT: u32 = u64::BITS - 1;

impl Default for Table {
    fn default() -> Self {
        Self {
            lists: Self::no_lists(),
            shift: NO_SHIFT,
            used: 0,
            learned: 0,
            asked: 0,
            missed: 0,
            bad: 0,
            exhausted: false,
            given_up: false,
            depth: 0,
            bits_before: u32::MAX,
            pivots: [None; 2],
            bits: 0,
            parts: Choice::default(),
        }
    }
}

impl Table {
    /// An empty one, that comes of so many divisions.
    pub fn part(depth: u32, bits_before: u32) -> Self {
        Self { depth, bits_before, ..Self::default() }
    }

    /// As many as hashes have values if they are shifted by [`NO_SHIFT`].
    fn no_lists() -> Vec<List> {
        vec![NO_LIST; 1 << (u64::BITS - NO_SHIFT)]
    }

    /// Forgets all lists.
    pub fn empty(&mut self) {
        self.lists = Self::no_lists();
        self.shift = NO_SHIFT;
        self.used = 0;
    }

    pub fn bytes(&self) -> usize {
        self.lists.capacity() * size_of::<List>()
    }

    /// Where bits are looked for first.
    #[inline(always)]
    fn home(&self, bits: u64) -> usize {
        (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (self.shift & 63)) as usize
    }

    /// The place of bits, or where they would be.
    fn place(&self, bits: u64) -> usize {
        let last = self.lists.len() - 1;
        let mut at = self.home(bits) & last;
        while self.lists[at].bits != bits && self.lists[at].count != EMPTY {
            at = (at + 1) & last;
        }
        at
    }

    /// The list for bits.
    #[inline(always)]
    pub fn find(&self, bits: u64) -> &List {
        let home = self.home(bits);
        debug_assert!(home < self.lists.len());
        // SAFETY: a hash is shifted so far that as many values are left as there are lists.
        let list = unsafe { self.lists.get_unchecked(home) };
        if list.bits == bits { list } else { self.seek(bits) }
    }

    #[inline(never)]
    fn seek(&self, bits: u64) -> &List {
        &self.lists[self.place(bits)]
    }

    /// Whether it is divided into others.
    #[inline(always)]
    pub fn is_divided(&self) -> bool {
        self.parts.bits.mask != 0
    }

    /// Takes note that something was not found; whether to learn it, if there is credit for that, now or
    /// when it comes again.
    #[cold]
    pub fn misses(&mut self, bits: u64, eager: bool, credit: bool) -> bool {
        self.missed += 1;
        if self.asked >= WINDOW {
            self.bad += match self.missed {
                missed if missed > self.asked / 2 => PATIENCE / 2,
                missed if missed > self.asked / BAD => 1,
                _ => 0,
            };
            (self.asked, self.missed) = (0, 0);
            if self.bad >= PATIENCE && self.bits > FEW_BITS {
                self.exhausted = true;
                return true;
            }
        }
        // Room for more is taken by those who pay for it.
        if eager || self.learned < SAMPLES || self.is_full() {
            return credit;
        }
        self.put(List { bits, start: 0, count: ONCE });
        false
    }

    fn is_full(&self) -> bool {
        2 * (self.used as usize + 1) > self.lists.len()
    }

    pub fn put(&mut self, list: List) {
        if self.is_full() {
            let more = (2 * self.lists.len()).max(8);
            self.shift = u64::BITS - more.ilog2();
            let old = std::mem::replace(&mut self.lists, vec![NO_LIST; more]);
            for list in old.into_iter().filter(|list| list.count != EMPTY) {
                let at = self.place(list.bits);
                self.lists[at] = list;
            }
        }
        let at = self.place(list.bits);
        self.used += u32::from(self.lists[at].count == EMPTY);
        self.lists[at] = list;
    }
}
