//! Keys as they are.
//!
//! *Idea*: keys lie in an arena, each after its number and length, in words of eight bytes. An
//! [`Index`] finds them by their hash, and a list of their places by their number. Each worker
//! writes into a block of the arena of its own.
//!
//! *Invariant*: a record does not change once its place is in the index; before, its words belong
//! to one worker. A number is taken after a slot was claimed, hence for keys that are new only, and
//! none is lost unless memory ends between the two, which is found out before the number is taken:
//! numbers are dense.
//!
//! *Memory orderings*: the words of a record are stored relaxed; the place that leads to them is
//! stored with `Release`, in the index and in the list by number, and loaded with `Acquire`.
//!
//! *Cost*: for each key its length, 8 bytes for number and length, 0 to 7 to fill a word, 4 for
//! the place by number and some 9 for the index. A miss costs one cache line, a hit two.

use std::sync::Arc;

use rapidhash::v3::rapidhash_v3;

use crate::budget::Budget;
use crate::chunks::Chunks;
use crate::index::{Entry, Index, LAST_PLACE, Records};
use crate::sync::{Apart, AtomicU32, AtomicU64, Ordering};
use crate::zeroed::prefetch;
use crate::{Full, Id, Set, Store, Worker};

/// Words in a worker's block.
const BLOCK: usize = if cfg!(loom) { 4 } else { 1 << 11 };

/// The exact set of keys.
pub struct Exact {
    index: Index,
    arena: Arena,
    /// Places of keys by number.
    places: Chunks<AtomicU32>,
    len: Apart<AtomicU32>,
}

impl Exact {
    /// No keys.
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        Ok(Self {
            index: Index::new(1, budget.clone())?,
            arena: Arena {
                words: Chunks::new(LAST_PLACE.into(), BLOCK, budget.clone())?,
                // Place 0 is no place.
                used: AtomicU64::new(1),
            },
            places: Chunks::new(LAST_PLACE.into(), BLOCK, budget.clone())?,
            len: Apart(AtomicU32::new(0)),
        })
    }

    /// The next number, with room in the list of places.
    fn number(&self) -> Result<Id, Full> {
        let mut number = self.len.load(Ordering::Relaxed);
        loop {
            if number >= LAST_PLACE {
                return Err(Full::Numbers);
            }
            self.places.ensure(number as usize)?;
            let next = number + 1;
            let relaxed = Ordering::Relaxed;
            match self.len.compare_exchange_weak(number, next, relaxed, relaxed) {
                Ok(_) => return Ok(number),
                Err(other) => number = other,
            }
        }
    }
}

impl Set for Exact {
    #[inline]
    fn prepare(&self, key: &[u8], _: &mut Worker) -> Result<u64, Full> {
        Ok(rapidhash_v3(key))
    }

    #[inline]
    fn prefetch(&self, prepared: u64) {
        self.index.prefetch(prepared);
    }

    #[inline]
    fn prefetch_key(&self, prepared: u64) {
        self.index.prefetch_record(prepared, &self.arena);
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed).into()
    }

    fn bytes(&self) -> u64 {
        self.index.bytes() + self.arena.words.bytes() + self.places.bytes()
    }
}

impl Store for Exact {
    fn insert(&self, key: &[u8], prepared: u64, worker: &mut Worker) -> Result<(Id, bool), Full> {
        let same = |place| self.arena.record(place).is(key);
        match self.index.find_or_claim(prepared, &self.arena, same)? {
            Entry::Known(place) => Ok((self.arena.record(place).number(), false)),
            Entry::Vacant(claim) => {
                let place = self.arena.room(key.len(), &mut worker.exact)?;
                let number = self.number()?;
                worker.exact.next += self.arena.write(place, number, key);
                self.places.at(number as usize).store(place, Ordering::Release);
                claim.fill(place);
                Ok((number, true))
            }
        }
    }

    fn get(&self, id: Id, out: &mut Vec<u8>, _: &mut Worker) {
        let place = self.places.at(id as usize).load(Ordering::Acquire);
        out.clear();
        self.arena.record(place).append_to(out);
    }
}

/// The unused part of a block of the arena, which belongs to a worker.
#[derive(Debug, Default)]
pub(crate) struct Block {
    next: usize,
    end: usize,
}

struct Arena {
    words: Chunks<AtomicU64>,
    /// Words given to workers.
    used: AtomicU64,
}

impl Arena {
    #[inline(always)]
    fn record(&self, place: u32) -> Record<'_> {
        let head = self.words.at(place as usize).load(Ordering::Relaxed);
        let len = (head >> 32) as usize;
        let words = self.words.slice(place as usize + 1, len.div_ceil(8));
        Record { number: head as u32, len, words }
    }

    /// A place for a key of this length at the beginning of the worker's block.
    fn room(&self, len: usize, block: &mut Block) -> Result<u32, Full> {
        let words = 1 + len.div_ceil(8);
        if u32::try_from(len).is_err() {
            return Err(Full::Numbers);
        }
        if block.end - block.next < words {
            *block = self.block(words)?;
        }
        u32::try_from(block.next).map_err(|_| Full::Numbers)
    }

    /// A new block with at least so many words, which all lie in one chunk.
    #[cold]
    fn block(&self, words: usize) -> Result<Block, Full> {
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let mut start = used as usize;
            if self.words.left_in_chunk(start) < words {
                start += self.words.left_in_chunk(start);
                start = self.words.first_with_chunk_of(start, words);
            }
            // To the end of a usual block, or the whole of a large key.
            let end = (start + words).max((start + 1).next_multiple_of(BLOCK));
            if end > LAST_PLACE as usize {
                return Err(Full::Numbers);
            }
            self.words.ensure(start)?;
            let relaxed = Ordering::Relaxed;
            match self.used.compare_exchange_weak(used, end as u64, relaxed, relaxed) {
                Ok(_) => return Ok(Block { next: start, end }),
                Err(other) => used = other,
            }
        }
    }

    /// Writes a record; how many words it has.
    fn write(&self, place: u32, number: Id, key: &[u8]) -> usize {
        let words = self.words.slice(place as usize, 1 + key.len().div_ceil(8));
        words[0].store(u64::from(number) | (key.len() as u64) << 32, Ordering::Relaxed);
        for (word, value) in words[1..].iter().zip(words_of(key)) {
            word.store(value, Ordering::Relaxed);
        }
        words.len()
    }
}

impl Records for Arena {
    fn hash(&self, place: u32) -> u64 {
        let record = self.record(place);
        const USUAL: usize = 64;
        if record.words.len() <= USUAL {
            let mut bytes = [[0; 8]; USUAL];
            for (bytes, word) in bytes.iter_mut().zip(record.words) {
                *bytes = word.load(Ordering::Relaxed).to_le_bytes();
            }
            return rapidhash_v3(&bytes.as_flattened()[..record.len]);
        }
        let mut bytes = Vec::with_capacity(record.len + 7);
        record.append_to(&mut bytes);
        rapidhash_v3(&bytes)
    }

    #[inline]
    fn prefetch(&self, place: u32) {
        // A usual key reaches into a second line.
        let start = place as usize;
        let line = self.words.slice(start, self.words.left_in_chunk(start).min(8));
        line.first().inspect(|it| prefetch(*it));
        line.last().inspect(|it| prefetch(*it));
    }
}

/// A key with its number.
struct Record<'a> {
    number: Id,
    len: usize,
    words: &'a [AtomicU64],
}

impl Record<'_> {
    fn number(&self) -> Id {
        self.number
    }

    #[inline]
    fn is(&self, key: &[u8]) -> bool {
        let equal = |(word, value): (&AtomicU64, u64)| word.load(Ordering::Relaxed) == value;
        self.len == key.len() && self.words.iter().zip(words_of(key)).all(equal)
    }

    fn append_to(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        out.reserve(self.words.len() * 8);
        for word in self.words {
            out.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        out.truncate(end);
    }
}

/// The words of a key; the last is filled up with zeroes.
#[inline]
fn words_of(key: &[u8]) -> impl Iterator<Item = u64> {
    let (words, rest) = key.as_chunks::<8>();
    let last = (!rest.is_empty()).then(|| {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(bytes)
    });
    words.iter().map(|&word| u64::from_le_bytes(word)).chain(last)
}
