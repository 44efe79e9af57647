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

    /// Gives each key of so many words to who owns it, and keeps none. Others may have some already, with the same mask.
    ///
    /// This is not done when a key is made: whose it is depends on all of its bits, and the processor does not wait for
    /// them to guess where in memory the next one goes, too often wrongly.
    pub fn share_out<const W: usize>(&mut self, owners: &mut [Self]) -> Result<(), Full> {
        if let [only] = owners
            && only.is_empty()
        {
            std::mem::swap(self, only);
            return Ok(());
        }
        owners.iter_mut().try_for_each(|owner| owner.make_room::<W>(self.len()))?;
        let keys = self.words.as_chunks::<W>().0.iter().zip(&self.hashes).zip(&self.asleep);
        for ((key, &hash), &asleep) in keys {
            let owner = Flat::owner(hash, owners.len());
            // SAFETY: an owner is one of them, and there is room for all keys with each.
            unsafe { owners.get_unchecked_mut(owner).push(key, hash, asleep) };
        }
        self.clear();
        Ok(())
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
    /// Keys packed with the mask.
    pub packets: &'a mut Packets,
    /// Keys that are not packed with it.
    pub others: &'a mut Vec<u64>,
    /// How many changes there were, also of actors that sleep.
    pub count: usize,
}

impl Changed<'_> {
    /// Adds a key, in which these actors sleep.
    ///
    /// # Safety
    /// There must be [room](Packets::room) for it.
    #[inline(always)]
    pub(crate) unsafe fn push<const W: usize>(&mut self, key: &[u64; W], asleep: u64) {
        // SAFETY: as above.
        unsafe { self.packets.push(key, Flat::hash(key), asleep) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_key_comes_to_its_owner() {
        let budget = Arc::new(Budget::new(None));
        for owners in 1..6 {
            let mut packets: Vec<_> = (0..owners).map(|_| Packets::new(&budget)).collect();
            let mut made = Packets::new(&budget);
            let mut expected = vec![Vec::new(); owners];
            for round in 0..10_u64 {
                made.make_room::<2>(100).unwrap();
                for number in 0..10 * round {
                    let key = [round, number.wrapping_mul(0x9e37_79b9_7f4a_7c15)];
                    let hash = Flat::hash(&key);
                    // SAFETY: there is room for a hundred.
                    unsafe { made.push(&key, hash, number) };
                    expected[Flat::owner(hash, owners)].push((key, hash, number));
                }
                made.share_out::<2>(&mut packets).unwrap();
                assert!(made.is_empty());
            }
            for (packets, expected) in packets.iter().zip(expected) {
                let keys = packets.keys::<2>().iter().zip(packets.hashes()).zip(packets.asleep());
                let keys: Vec<_> =
                    keys.map(|((key, hash), asleep)| (*key, *hash, *asleep)).collect();
                assert!(!keys.is_empty());
                assert_eq!(keys, expected);
            }
        }
        assert_eq!(budget.used(), 0);
    }
}
