//! A few bits for each state.
//!
//! *Idea*: a Bloom filter: a state sets k bits of a table of fixed size, and is taken for known if
//! all of them were set (Holzmann, *An analysis of bitstate hashing*, 1998). The k places come from
//! two by *enhanced double hashing* (Dillinger and Manolios, *Bloom filters in probabilistic
//! verification*, 2004), which loses as little as k independent ones, for tables of any size.
//!
//! *Invariant*: bits are only set, so a state that was inserted is known for ever; one that was not
//! may be taken for known, as often as [`omission::bitstate`] says. Two
//! threads that insert one state at a time may both be told that it is new, which costs time only.
//!
//! *Memory orderings*: relaxed: bits publish nothing but themselves.
//!
//! *Cost*: up to k cache lines for each state, all prefetched.

use std::sync::Arc;

use rapidhash::v3::rapidhash_v3;

use crate::budget::Budget;
use crate::interner::hash;
use crate::omission;
use crate::sync::{AtomicU64, Ordering};
use crate::zeroed::{Zeroed, prefetch};
use crate::{Full, Lossy, Omissions, Set, Worker};

/// The most bits that a state may set.
pub const MAX_HASHES: u32 = 128;

/// The lossy set of keys, a few bits each.
pub struct Bitstate {
    words: Zeroed<AtomicU64>,
    hashes: u32,
    len: AtomicU64,
    budget: Arc<Budget>,
}

impl Bitstate {
    /// No keys, in so many bytes (up to seven are not used), with so many bits for each, which is
    /// from 1 to [`MAX_HASHES`].
    pub fn new(bytes: u64, hashes: u32, budget: &Arc<Budget>) -> Result<Self, Full> {
        let words = usize::try_from(bytes / 8).map_err(|_| Full::Memory)?.max(1);
        budget.take(words as u64 * 8)?;
        let Some(table) = Zeroed::try_scattered(words) else {
            budget.give_back(words as u64 * 8);
            return Err(Full::Memory);
        };
        Ok(Self {
            words: table,
            hashes: hashes.clamp(1, MAX_HASHES),
            len: AtomicU64::new(0),
            budget: budget.clone(),
        })
    }

    /// Bits in the table.
    pub fn bits(&self) -> u64 {
        self.words.len() as u64 * 64
    }

    /// Bits for each key.
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// The places of a key's bits.
    #[inline]
    fn places(&self, prepared: u64) -> impl Iterator<Item = u64> {
        let bits = self.bits();
        let reduce = |hash: u64| ((u128::from(hash) * u128::from(bits)) >> 64) as u64;
        let wrap = move |place: u64| if place >= bits { place - bits } else { place };
        let (mut place, mut step) = (reduce(prepared), reduce(hash(prepared)));
        (0..u64::from(self.hashes)).map(move |round| {
            let this = place;
            place = wrap(place + step);
            step = wrap(step + round % bits);
            this
        })
    }
}

impl Set for Bitstate {
    #[inline]
    fn prepare(&self, key: &[u8], _: &mut Worker) -> Result<u64, Full> {
        Ok(rapidhash_v3(key))
    }

    #[inline]
    fn prefetch(&self, prepared: u64) {
        for place in self.places(prepared) {
            prefetch(&self.words[(place / 64) as usize]);
        }
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }
}

impl Lossy for Bitstate {
    fn contains(&self, _: &[u8], prepared: u64) -> bool {
        self.places(prepared).all(|place| {
            self.words[(place / 64) as usize].load(Ordering::Relaxed) & 1 << (place % 64) != 0
        })
    }

    fn insert(&self, _: &[u8], prepared: u64) -> Result<bool, Full> {
        let mut new = false;
        for place in self.places(prepared) {
            let word = &self.words[(place / 64) as usize];
            let bit = 1 << (place % 64);
            // Most bits of known states are set: do not claim their cache lines for writing.
            if word.load(Ordering::Relaxed) & bit == 0 {
                new |= word.fetch_or(bit, Ordering::Relaxed) & bit == 0;
            }
        }
        self.len.fetch_add(new.into(), Ordering::Relaxed);
        Ok(new)
    }

    fn omissions(&self) -> Omissions {
        omission::after_bitstate(self.bits(), self.hashes, self.len())
    }
}

impl Drop for Bitstate {
    fn drop(&mut self) {
        let bytes = self.bytes();
        self.words = Zeroed::new(1);
        self.budget.give_back(bytes);
    }
}
