//! Packed keys on their way to who owns them.

#![allow(unsafe_code, reason = "this is done for each changed key; the block says why it is sound")]

use std::sync::Arc;

use crate::Full;
use crate::budget::Budget;
use crate::flat::Flat;

/// Bytes that are kept when there are no keys any more. More is rare, and would be missed elsewhere.
const KEPT: u64 = 1 << 20;

/// Keys packed with one mask, and their hashes.
pub struct Packets {
    mask: usize,
    words: Vec<u64>,
    hashes: Vec<u64>,
    /// By key: the actors that sleep in it, as bits.
    asleep: Vec<u64>,
    /// Bytes taken from the budget.
    taken: u64,
    budget: Arc<Budget>,
}

impl Packets {
    /// None.
    pub fn new(budget: &Arc<Budget>) -> Self {
        let budget = budget.clone();
        let (words, hashes, asleep) = (Vec::new(), Vec::new(), Vec::new());
        Self { mask: 0, words, hashes, asleep, taken: 0, budget }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// With which mask they are packed.
    pub fn mask(&self) -> usize {
        self.mask
    }

    /// Whether keys packed with a mask can be added.
    pub fn suits(&self, mask: usize) -> bool {
        self.mask == mask || self.is_empty()
    }

    /// From now on keys packed with a mask are added, for which it [suits](Self::suits).
    pub fn begin(&mut self, mask: usize) {
        debug_assert!(self.suits(mask));
        self.mask = mask;
    }

    /// The keys, if they have so many words.
    pub fn keys<const W: usize>(&self) -> &[[u64; W]] {
        self.words.as_chunks().0
    }

    /// Their hashes.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// By key: the actors that sleep in it, as bits.
    pub fn asleep(&self) -> &[u64] {
        &self.asleep
    }

    /// For how many more keys of so many words there is room.
    #[inline]
    pub(crate) fn room<const W: usize>(&self) -> usize {
        let words = (self.words.capacity() - self.words.len()) / W;
        let others = self.hashes.capacity().min(self.asleep.capacity());
        words.min(others - self.hashes.len())
    }

    /// Makes room for so many more keys of so many words.
    #[inline]
    pub fn make_room<const W: usize>(&mut self, more: usize) -> Result<(), Full> {
        if self.room::<W>() < more { self.grow::<W>(more) } else { Ok(()) }
    }

    /// Old and new room are both there for a moment.
    #[cold]
    fn grow<const W: usize>(&mut self, more: usize) -> Result<(), Full> {
        let keys = (self.len() + more).max(2 * self.hashes.capacity());
        let bytes = (keys * (W + 2) * size_of::<u64>()) as u64;
        self.budget.take(bytes)?;
        self.words.reserve_exact(keys * W - self.words.len());
        self.hashes.reserve_exact(keys - self.hashes.len());
        self.asleep.reserve_exact(keys - self.asleep.len());
        self.budget.give_back(std::mem::replace(&mut self.taken, bytes));
        Ok(())
    }

    /// Adds a key with this hash, in which these actors sleep.
    ///
    /// # Safety
    /// There must be [room](Self::room) for it.
    #[inline(always)]
    pub(crate) unsafe fn push<const W: usize>(&mut self, key: &[u64; W], hash: u64, asleep: u64) {
        let (words, keys) = (self.words.len(), self.hashes.len());
        debug_assert!(self.room::<W>() > 0);
        // SAFETY: as above.
        unsafe {
            self.words.as_mut_ptr().add(words).cast::<[u64; W]>().write(*key);
            self.words.set_len(words + W);
            self.hashes.as_mut_ptr().add(keys).write(hash);
            self.hashes.set_len(keys + 1);
            self.asleep.as_mut_ptr().add(keys).write(asleep);
            self.asleep.set_len(keys + 1);
        }
    }

    /// Drops all keys.
    pub fn clear(&mut self) {
        self.words.clear();
        self.hashes.clear();
        self.asleep.clear();
        if self.taken > KEPT {
            (self.words, self.hashes, self.asleep) = (Vec::new(), Vec::new(), Vec::new());
            self.budget.give_back(std::mem::take(&mut self.taken));
        }
    }
}

impl Drop for Packets {
    fn drop(&mut self) {
        (self.words, self.hashes, self.asleep) = (Vec::new(), Vec::new(), Vec::new());
        self.budget.give_back(self.taken);
    }
}

/// Where changed keys are put.
pub struct Changed<'a> {
    /// By owner: keys packed with the mask.
    pub packets: &'a mut [Packets],
    /// Keys that are not packed with it.
    pub others: &'a mut Vec<u64>,
    /// How many changes there were, also of actors that sleep.
    pub count: usize,
}

impl Changed<'_> {
    /// For how many more keys there is room, whoever owns them.
    pub(crate) fn room<const W: usize>(&self) -> usize {
        self.packets.iter().map(Packets::room::<W>).min().unwrap_or(0)
    }

    /// Adds a key, in which these actors sleep.
    ///
    /// # Safety
    /// There must be [room](Self::room) for it.
    #[inline(always)]
    pub(crate) unsafe fn push<const W: usize>(&mut self, key: &[u64; W], asleep: u64) {
        let hash = Flat::hash(key);
        let owner = Flat::owner(hash, self.packets.len());
        // SAFETY: as above; an owner is one of them.
        unsafe { self.packets.get_unchecked_mut(owner).push(key, hash, asleep) };
    }
}
