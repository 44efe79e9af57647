//! Words of 64 bits, each kept once and known by a number.
//!
//! *Idea*: an array of words by number, and an [`Index`] that finds a word's number by its value.
//! Most words are pairs of small numbers, arranged so that their upper bits are zero: the lower 40
//! bits of eight words are packed into five, and the other bits lie in two arrays of their own, with
//! 8 and 16 bits, whose chunks are there only where some are not zero.
//!
//! *Invariant*: numbers are dense: one is taken only after a slot of the index was claimed for a
//! word that is new. A word does not change once its number is in the index.
//!
//! *Memory orderings*: a word is written relaxed, with `fetch_or` since neighbours share words of
//! the array; the number that leads to it is published by the index with `Release`.
//!
//! *Cost*: 5, 6 or 8 bytes for each word and some 7.5 for the index.

use std::sync::Arc;

use crate::Full;
use crate::budget::Budget;
use crate::chunks::Chunks;
use crate::index::{Entry, Index, LAST_PLACE, Records};
use crate::sync::{Apart, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use crate::zeroed::prefetch;

/// Words in the smallest chunks.
const CHUNK: usize = if cfg!(loom) { 8 } else { 1 << 10 };

/// In how many steps the index doubles. Words are hashed again fast, so it can be kept small.
const STEPS: usize = if cfg!(loom) { 1 } else { 2 };

/// Words, each kept once.
pub(crate) struct Interner {
    index: Index,
    words: Words,
    len: Apart<AtomicU32>,
    /// Numbers are less than this.
    limit: u32,
}

impl Interner {
    /// No words, and at most so many later on.
    pub fn new(limit: u32, budget: &Arc<Budget>) -> Result<Self, Full> {
        let limit = limit.min(LAST_PLACE);
        Ok(Self {
            index: Index::new(STEPS, budget.clone())?,
            words: Words::new(limit, budget)?,
            len: Apart(AtomicU32::new(0)),
            limit,
        })
    }

    /// The number of a word, and whether it is new.
    #[inline]
    pub fn intern(&self, word: u64) -> Result<(u32, bool), Full> {
        let same = |place| self.words.at(place) == word;
        match self.index.find_or_claim(hash(word), &self.words, same)? {
            Entry::Known(place) => Ok((place - 1, false)),
            Entry::Vacant(claim) => {
                let number = self.number(word)?;
                self.words.write(number + 1, word);
                claim.fill(number + 1);
                Ok((number, true))
            }
        }
    }

    /// The next number, with room for this word.
    fn number(&self, word: u64) -> Result<u32, Full> {
        let mut number = self.len.load(Ordering::Relaxed);
        loop {
            if number >= self.limit {
                return Err(Full::Numbers);
            }
            self.words.ensure(number + 1, word)?;
            let next = number + 1;
            let relaxed = Ordering::Relaxed;
            match self.len.compare_exchange_weak(number, next, relaxed, relaxed) {
                Ok(_) => return Ok(number),
                Err(other) => number = other,
            }
        }
    }

    /// The word with this number, which was given to this thread or handed over to it.
    #[inline]
    pub fn word(&self, number: u32) -> u64 {
        self.words.at(number + 1)
    }

    #[inline]
    pub fn prefetch(&self, word: u64) {
        self.index.prefetch(hash(word));
    }

    #[inline]
    pub fn prefetch_word(&self, word: u64) {
        self.index.prefetch_record(hash(word), &self.words);
    }

    pub fn len(&self) -> u32 {
        self.len.load(Ordering::Relaxed)
    }

    pub fn bytes(&self) -> u64 {
        self.index.bytes() + self.words.bytes()
    }
}

/// Words by place, which is their number and one.
struct Words {
    /// Rows of five words with the lower bits of eight.
    lower: Chunks<AtomicU64>,
    middle: Chunks<AtomicU8>,
    upper: Chunks<AtomicU16>,
}

/// The lower bits of a word.
const LOWER: u32 = 40;

/// Where the upper bits begin.
const UPPER: u32 = 48;

impl Words {
    fn new(limit: u32, budget: &Arc<Budget>) -> Result<Self, Full> {
        let limit = u64::from(limit) + 1;
        Ok(Self {
            lower: Chunks::of_rows(5, limit.div_ceil(8), CHUNK / 8, budget.clone())?,
            middle: Chunks::new(limit, CHUNK, budget.clone())?,
            upper: Chunks::new(limit, CHUNK, budget.clone())?,
        })
    }

    /// Makes room for a word.
    #[inline]
    fn ensure(&self, place: u32, word: u64) -> Result<(), Full> {
        self.lower.ensure(place as usize / 8)?;
        if (word >> LOWER) as u8 != 0 {
            self.middle.ensure(place as usize)?;
        }
        if word >> UPPER != 0 {
            self.upper.ensure(place as usize)?;
        }
        Ok(())
    }

    /// Where the lower bits of a word begin.
    #[inline(always)]
    fn lower(&self, place: u32) -> (&[AtomicU64], u32) {
        let row = self.lower.row(place as usize / 8);
        let first = place % 8 * LOWER;
        (&row[first as usize / 64..], first % 64)
    }

    fn write(&self, place: u32, word: u64) {
        let (words, shift) = self.lower(place);
        let lower = u128::from(word & ((1 << LOWER) - 1)) << shift;
        words[0].fetch_or(lower as u64, Ordering::Relaxed);
        if shift + LOWER > 64 {
            words[1].fetch_or((lower >> 64) as u64, Ordering::Relaxed);
        }
        if (word >> LOWER) as u8 != 0 {
            self.middle.at(place as usize).store((word >> LOWER) as u8, Ordering::Relaxed);
        }
        if word >> UPPER != 0 {
            self.upper.at(place as usize).store((word >> UPPER) as u16, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn at(&self, place: u32) -> u64 {
        let (words, shift) = self.lower(place);
        let mut lower = u128::from(words[0].load(Ordering::Relaxed));
        if shift + LOWER > 64 {
            lower |= u128::from(words[1].load(Ordering::Relaxed)) << 64;
        }
        let middle = self.middle.get(place as usize).map_or(0, |it| it.load(Ordering::Relaxed));
        let upper = self.upper.get(place as usize).map_or(0, |it| it.load(Ordering::Relaxed));
        let lower = (lower >> shift) as u64 & ((1 << LOWER) - 1);
        lower | u64::from(middle) << LOWER | u64::from(upper) << UPPER
    }

    fn bytes(&self) -> u64 {
        self.lower.bytes() + self.middle.bytes() + self.upper.bytes()
    }
}

impl Records for Words {
    #[inline]
    fn hash(&self, place: u32) -> u64 {
        hash(self.at(place))
    }

    #[inline]
    fn prefetch(&self, place: u32) {
        prefetch(&self.lower(place).0[0]);
    }
}

/// Mixes all bits (Stafford's variant 13 of the finalizer of MurmurHash3).
#[inline]
pub(crate) fn hash(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
