//! What a search hangs on states: flags, numbers and bytes by the number of the state.
//!
//! *Idea*: arrays of atomics that grow by chunks as states come to be known; what was never set is
//! no, or zero. *Memory orderings*: what is read was stored with `Release` and is loaded with
//! `Acquire`, so that what a thread wrote before it set a flag is seen by those who see the flag.
//! *Cost*: one bit for each flag, four bytes for each number, and bytes as they are.

use std::sync::Arc;

use crate::budget::{Budget, OutOfMemory};
use crate::chunks::Chunks;
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::zeroed::prefetch;
use crate::{Full, Id};

/// Words in the smallest chunks.
const CHUNK: usize = if cfg!(loom) { 2 } else { 1 << 10 };

/// More than there are states.
const STATES: u64 = 1 << 32;

/// A flag for each state: on the stack, in the queue, seen by the second search.
pub struct Flags(Chunks<AtomicU64>);

impl Flags {
    /// All no.
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        Ok(Self(Chunks::new(STATES / 64, CHUNK, budget.clone())?))
    }

    /// Whether the flag of a state is set.
    #[inline]
    pub fn contains(&self, id: Id) -> bool {
        let word = self.0.get(id as usize / 64);
        word.is_some_and(|it| it.load(Ordering::Acquire) & bit(id) != 0)
    }

    /// Sets a flag; whether it was not set before. Of several threads one is told so.
    #[inline]
    pub fn insert(&self, id: Id) -> Result<bool, OutOfMemory> {
        let word = id as usize / 64;
        self.0.ensure(word)?;
        Ok(self.0.at(word).fetch_or(bit(id), Ordering::AcqRel) & bit(id) == 0)
    }

    /// Takes a flag back; whether it was set. Of several threads one is told so.
    #[inline]
    pub fn remove(&self, id: Id) -> bool {
        let word = self.0.get(id as usize / 64);
        word.is_some_and(|it| it.fetch_and(!bit(id), Ordering::AcqRel) & bit(id) != 0)
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

fn bit(id: Id) -> u64 {
    1 << (id % 64)
}

/// A number for each state: its depth, its parent.
pub struct Numbers(Chunks<AtomicU32>);

impl Numbers {
    /// All zero.
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        Ok(Self(Chunks::new(STATES, CHUNK, budget.clone())?))
    }

    /// The number of a state.
    #[inline]
    pub fn get(&self, id: Id) -> u32 {
        self.0.get(id as usize).map_or(0, |it| it.load(Ordering::Acquire))
    }

    /// Sets it.
    #[inline]
    pub fn set(&self, id: Id, number: u32) -> Result<(), OutOfMemory> {
        self.0.ensure(id as usize)?;
        self.0.at(id as usize).store(number, Ordering::Release);
        Ok(())
    }

    /// Changes it as long as `change` wants, which is asked again if another thread was faster; what
    /// it was before, if it was changed.
    pub fn update(
        &self,
        id: Id,
        change: impl Fn(u32) -> Option<u32>,
    ) -> Result<Option<u32>, OutOfMemory> {
        self.0.ensure(id as usize)?;
        let number = self.0.at(id as usize);
        Ok(number.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).ok())
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

/// A row of bytes for each state, of one width for all.
pub struct Bytes {
    rows: Chunks<AtomicU8>,
    width: usize,
}

impl Bytes {
    /// All zero; `width` for each state, perhaps none.
    pub fn new(width: usize, budget: &Arc<Budget>) -> Result<Self, Full> {
        Ok(Self { rows: Chunks::of_rows(width, STATES, CHUNK, budget.clone())?, width })
    }

    /// How many bytes each state has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The first byte of a state.
    #[inline]
    pub fn first(&self, id: Id) -> u8 {
        self.row(id).and_then(<[_]>::first).map_or(0, |it| it.load(Ordering::Acquire))
    }

    /// Adds the bytes of a state to `out`.
    pub fn read(&self, id: Id, out: &mut Vec<u8>) {
        match self.row(id) {
            Some(row) => out.extend(row.iter().map(|it| it.load(Ordering::Acquire))),
            None => out.resize(out.len() + self.width, 0),
        }
    }

    /// Sets the bytes of a state.
    #[inline]
    pub fn set(&self, id: Id, bytes: &[u8]) -> Result<(), OutOfMemory> {
        assert_eq!(bytes.len(), self.width);
        if self.width > 0 {
            self.rows.ensure(id as usize)?;
            for (place, &byte) in self.rows.row(id as usize).iter().zip(bytes) {
                place.store(byte, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Brings the bytes of a state into the cache.
    #[inline]
    pub fn prefetch(&self, id: Id) {
        if let Some(first) = self.row(id).and_then(<[_]>::first) {
            prefetch(first);
        }
    }

    /// The bytes of a state, if they were ever set or those of a neighbour were.
    #[inline]
    fn row(&self, id: Id) -> Option<&[AtomicU8]> {
        self.rows.get_row(id as usize)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn bytes() {
        let budget = Arc::new(Budget::new(None));
        for width in [0, 1, 3] {
            let bytes = Bytes::new(width, &budget).unwrap();
            let row: Vec<u8> = (7..).take(width).collect();
            bytes.set(100_000, &row).unwrap();
            let mut read = vec![1];
            for id in [100_000, 3, u32::MAX] {
                bytes.prefetch(id);
                bytes.read(id, &mut read);
            }
            assert_eq!(read, [&[1], &row[..], &vec![0; 2 * width]].concat());
            assert_eq!(bytes.first(100_000), row.first().copied().unwrap_or(0));
            assert_eq!((bytes.first(100_001), bytes.first(5)), (0, 0));
        }
    }

    #[test]
    fn flags() {
        let flags = Flags::new(&Arc::new(Budget::new(None))).unwrap();
        assert!(!flags.contains(200) && !flags.remove(200));
        assert_eq!(flags.insert(200), Ok(true));
        assert_eq!(flags.insert(200), Ok(false));
        assert!(flags.contains(200) && !flags.contains(199) && !flags.contains(u32::MAX));
        assert!(flags.remove(200) && !flags.contains(200));
    }

    #[test]
    fn numbers() {
        let budget = Arc::new(Budget::new(None));
        let numbers = Numbers::new(&budget).unwrap();
        numbers.set(1_000_000, 5).unwrap();
        assert_eq!((numbers.get(1_000_000), numbers.get(3), numbers.get(u32::MAX)), (5, 0, 0));
        let smaller = |by| move |before: u32| (by < before).then_some(by);
        assert_eq!(numbers.update(1_000_000, smaller(7)), Ok(None));
        assert_eq!(numbers.update(1_000_000, smaller(4)), Ok(Some(5)));
        assert_eq!(numbers.get(1_000_000), 4);
        // Chunks that were skipped are not there.
        assert!(numbers.bytes() < 1 << 20);
    }

    #[test]
    fn one_of_many_threads_sets_a_flag() {
        let flags = Flags::new(&Arc::new(Budget::new(None))).unwrap();
        let set = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for id in 0..100_000 {
                        set.fetch_add(flags.insert(id).unwrap().into(), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(set.into_inner(), 100_000);
    }
}
