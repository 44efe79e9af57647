//! An array that grows without moving.
//!
//! *Idea*: chunks of growing size, sixteen of each size, so that the last one, which is partly
//! unused, is at most a sixteenth of the whole, and so that the place of an element is found with a
//! few shifts (after Driesen and others' *bucket arrays*). A chunk is asked of the [`Budget`], then
//! allocated, when an element of it is first needed; some may be skipped for ever.
//!
//! *Invariant*: a chunk, once there, stays where it is until the array is dropped, so references
//! to elements stay valid while others grow the array. Elements are atomic and start as zero.
//!
//! *Cost*: finding an element takes some eight instructions and a load from the list of chunks,
//! which is hot.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::budget::{Budget, OutOfMemory};
use crate::zeroed::{Zeroable, Zeroed};

/// Chunks of each size.
const SAME: usize = if cfg!(loom) { 2 } else { 16 };
const SAME_BITS: u32 = SAME.ilog2();

/// An array that grows without moving.
pub(crate) struct Chunks<T: Zeroable> {
    chunks: Box<[OnceLock<Zeroed<T>>]>,
    /// Elements in each of the smallest chunks.
    smallest: usize,
    /// An element is a row of so many.
    width: usize,
    budget: Arc<Budget>,
    /// Held while a chunk is allocated, so that the budget is asked for it once.
    growing: Mutex<()>,
}

/// Where an element is.
struct Place {
    chunk: usize,
    offset: usize,
}

impl<T: Zeroable> Chunks<T> {
    /// For up to so many elements; `smallest` in each of the first chunks, a power of two.
    pub fn new(capacity: u64, smallest: usize, budget: Arc<Budget>) -> Result<Self, OutOfMemory> {
        Self::of_rows(1, capacity, smallest, budget)
    }

    /// The same, where each element is a row of `width`.
    pub fn of_rows(
        width: usize,
        capacity: u64,
        smallest: usize,
        budget: Arc<Budget>,
    ) -> Result<Self, OutOfMemory> {
        assert!(smallest.is_power_of_two());
        let last = usize::try_from(capacity.max(1) - 1).map_err(|_| OutOfMemory)?;
        let count = place(last, smallest).chunk + 1;
        budget.take(Self::list_bytes(count))?;
        let chunks = (0..count).map(|_| OnceLock::new()).collect();
        Ok(Self { chunks, smallest, width, budget, growing: Mutex::new(()) })
    }

    fn list_bytes(count: usize) -> u64 {
        (count * size_of::<OnceLock<Zeroed<T>>>()) as u64
    }

    fn chunk_len(&self, chunk: usize) -> usize {
        self.smallest << (chunk / SAME)
    }

    fn chunk_bytes(&self, chunk: usize) -> u64 {
        (self.chunk_len(chunk) * self.width * size_of::<T>()) as u64
    }

    /// How many elements there are from this one to the end of its chunk.
    pub fn left_in_chunk(&self, index: usize) -> usize {
        let Place { chunk, offset } = place(index, self.smallest);
        self.chunk_len(chunk) - offset
    }

    /// The first index, from this one on, whose chunk has so many elements.
    pub fn first_with_chunk_of(&self, index: usize, len: usize) -> usize {
        let doublings = len.div_ceil(self.smallest).next_power_of_two().ilog2();
        index.max(self.smallest * SAME * ((1 << doublings) - 1))
    }

    /// Makes sure that an element is there.
    #[inline]
    pub fn ensure(&self, index: usize) -> Result<(), OutOfMemory> {
        let Place { chunk, .. } = place(index, self.smallest);
        match self.chunks.get(chunk) {
            Some(it) if it.get().is_some() => Ok(()),
            Some(it) => self.allocate(chunk, it),
            None => Err(OutOfMemory),
        }
    }

    #[cold]
    fn allocate(&self, number: usize, chunk: &OnceLock<Zeroed<T>>) -> Result<(), OutOfMemory> {
        let _growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        if chunk.get().is_none() {
            self.budget.take(self.chunk_bytes(number))?;
            chunk.get_or_init(|| Zeroed::new(self.chunk_len(number) * self.width));
        }
        Ok(())
    }

    /// An element, if its chunk is there.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        let Place { chunk, offset } = place(index, self.smallest);
        self.chunks.get(chunk)?.get()?.get(offset)
    }

    /// A row, if its chunk is there.
    #[inline(always)]
    pub fn get_row(&self, index: usize) -> Option<&[T]> {
        let Place { chunk, offset } = place(index, self.smallest);
        let start = offset * self.width;
        self.chunks.get(chunk)?.get()?.get(start..start + self.width)
    }

    /// An element known to be there.
    #[inline(always)]
    pub fn at(&self, index: usize) -> &T {
        let Place { chunk, offset } = place(index, self.smallest);
        &self.chunk(chunk)[offset]
    }

    /// Elements known to be there, all in one chunk.
    #[inline(always)]
    pub fn slice(&self, start: usize, len: usize) -> &[T] {
        let Place { chunk, offset } = place(start, self.smallest);
        &self.chunk(chunk)[offset..offset + len]
    }

    /// A row known to be there.
    #[inline(always)]
    pub fn row(&self, index: usize) -> &[T] {
        let Place { chunk, offset } = place(index, self.smallest);
        &self.chunk(chunk)[offset * self.width..][..self.width]
    }

    #[inline(always)]
    fn chunk(&self, chunk: usize) -> &Zeroed<T> {
        self.chunks[chunk].get().expect("an element that was ensured")
    }

    /// Bytes taken from the budget.
    pub fn bytes(&self) -> u64 {
        let there = |&(_, chunk): &(usize, &OnceLock<_>)| chunk.get().is_some();
        let chunks = self.chunks.iter().enumerate().filter(there);
        Self::list_bytes(self.chunks.len())
            + chunks.map(|(number, _)| self.chunk_bytes(number)).sum::<u64>()
    }
}

impl<T: Zeroable> Drop for Chunks<T> {
    fn drop(&mut self) {
        let bytes = self.bytes();
        self.chunks = Box::default();
        self.budget.give_back(bytes);
    }
}

#[inline(always)]
fn place(index: usize, smallest: usize) -> Place {
    let position = (index >> smallest.trailing_zeros()) + SAME;
    let doublings = position.ilog2() - SAME_BITS;
    let chunk = SAME * doublings as usize + (position >> doublings) - SAME;
    let start = (((position >> doublings) << doublings) - SAME) << smallest.trailing_zeros();
    Place { chunk, offset: index - start }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::{AtomicU32, Ordering};

    #[test]
    fn elements_have_places_of_their_own() {
        let budget = Arc::new(Budget::new(None));
        let chunks = Chunks::<AtomicU32>::new(1 << 20, 4, budget.clone()).unwrap();
        for i in 0..100_000 {
            chunks.ensure(i).unwrap();
            assert_eq!(chunks.at(i).swap(i as u32 + 1, Ordering::Relaxed), 0);
        }
        for i in 0..100_000 {
            assert_eq!(chunks.at(i).load(Ordering::Relaxed), i as u32 + 1);
            assert!(chunks.left_in_chunk(i) > 0);
        }
        chunks.ensure((1 << 20) - 1).unwrap();
        assert_eq!(budget.used(), chunks.bytes());
        drop(chunks);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn chunks_large_enough_are_found() {
        let budget = Arc::new(Budget::new(None));
        let chunks = Chunks::<AtomicU32>::new(1 << 30, 4, budget).unwrap();
        for len in [1, 4, 5, 8, 9, 1000] {
            for index in [0, 3, 64, 100_000] {
                let first = chunks.first_with_chunk_of(index, len);
                let Place { chunk, .. } = place(first, 4);
                assert!(first >= index && chunks.chunk_len(chunk) >= len);
            }
        }
    }

    #[test]
    fn nothing_is_allocated_past_the_budget() {
        let budget = Arc::new(Budget::new(Some(20_000)));
        let chunks = Chunks::<AtomicU32>::new(1 << 20, 4, budget.clone()).unwrap();
        let there = (0..).take_while(|&i| chunks.ensure(i).is_ok()).count();
        assert!((1000..5000).contains(&there), "{there}");
        assert!(budget.peak() <= 20_000);
    }
}
