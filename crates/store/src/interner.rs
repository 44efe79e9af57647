//! Words of 64 bits, each kept once and known by a number.
//!
//! *Idea*: an array of words by number, and an [`Index`] that finds a word's number by its value.
//! *Invariant*: numbers are dense: one is taken only after a slot of the index was claimed for a
//! word that is new. *Memory orderings*: a word is stored relaxed; the number that leads to it is
//! published by the index with `Release`. *Cost*: 8 bytes for each word and some 7 for the index.

use std::sync::Arc;

use crate::Full;
use crate::budget::Budget;
use crate::chunks::Chunks;
use crate::index::{Entry, Index, LAST_PLACE, Records};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::zeroed::prefetch;

/// Words in the smallest chunks.
const CHUNK: usize = if cfg!(loom) { 2 } else { 1 << 9 };

/// In how many steps the index doubles. Words are hashed again fast, so it can be kept small.
const STEPS: usize = if cfg!(loom) { 1 } else { 2 };

/// Words, each kept once.
pub(crate) struct Interner {
    index: Index,
    words: Words,
    len: AtomicU32,
    /// Numbers are less than this.
    limit: u32,
}

impl Interner {
    /// No words, and at most so many later on.
    pub fn new(limit: u32, budget: &Arc<Budget>) -> Result<Self, Full> {
        let limit = limit.min(LAST_PLACE);
        Ok(Self {
            index: Index::new(STEPS, budget.clone())?,
            words: Words(Chunks::new(limit.into(), CHUNK, budget.clone())?),
            len: AtomicU32::new(0),
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
                let number = self.number()?;
                self.words.0.at(number as usize).store(word, Ordering::Relaxed);
                claim.fill(number + 1);
                Ok((number, true))
            }
        }
    }

    /// The next number, with room for its word.
    fn number(&self) -> Result<u32, Full> {
        let mut number = self.len.load(Ordering::Relaxed);
        loop {
            if number >= self.limit {
                return Err(Full::Numbers);
            }
            self.words.0.ensure(number as usize)?;
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
        self.index.bytes() + self.words.0.bytes()
    }
}

/// Words by place, which is their number and one.
struct Words(Chunks<AtomicU64>);

impl Words {
    #[inline]
    fn at(&self, place: u32) -> u64 {
        self.0.at(place as usize - 1).load(Ordering::Relaxed)
    }
}

impl Records for Words {
    #[inline]
    fn hash(&self, place: u32) -> u64 {
        hash(self.at(place))
    }

    #[inline]
    fn prefetch(&self, place: u32) {
        prefetch(self.0.at(place as usize - 1));
    }
}

/// Mixes all bits (Stafford's variant 13 of the finalizer of MurmurHash3).
#[inline]
pub(crate) fn hash(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
