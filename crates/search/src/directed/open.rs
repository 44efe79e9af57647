//! The states that wait, the best first.
//!
//! Buckets by rank, and in a rank by estimate: of states that rank the same, those come first that are nearer to
//! an error, and of those the one that was reached last. A state that was reached by a shorter run also stays
//! where it was.

use std::collections::BTreeMap;

use crate::buffer::Buffer;
use crate::limits::{Limit, Memory};

/// A state that waits, and the length of the run to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub number: u32,
    pub length: u32,
}

/// The states that wait.
#[derive(Debug)]
pub(crate) struct Open {
    /// By rank and estimate; none is empty.
    buckets: BTreeMap<(u32, u32), Buffer<Waiting>>,
    memory: Memory,
}

/// Bytes of a bucket in the map, about.
const BUCKET_BYTES: u64 = 2 * size_of::<((u32, u32), Buffer<Waiting>)>() as u64;

impl Open {
    pub fn new(memory: &Memory) -> Self {
        Self { buckets: BTreeMap::new(), memory: memory.clone() }
    }

    /// The lowest rank of all that wait.
    pub fn rank(&self) -> Option<u32> {
        self.buckets.first_key_value().map(|(&(rank, _), _)| rank)
    }

    pub fn push(&mut self, rank: u32, estimate: u32, state: Waiting) -> Result<(), Limit> {
        let bucket = match self.buckets.get_mut(&(rank, estimate)) {
            Some(bucket) => bucket,
            None => {
                self.memory.take(BUCKET_BYTES)?;
                let bucket = Buffer::new(&self.memory);
                self.buckets.entry((rank, estimate)).or_insert(bucket)
            }
        };
        bucket.push(state)
    }

    /// The best of all, with its rank.
    pub fn pop(&mut self) -> Option<(u32, Waiting)> {
        let mut first = self.buckets.first_entry()?;
        let rank = first.key().0;
        let state = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
            self.memory.give_back(BUCKET_BYTES);
        }
        state.map(|state| (rank, state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_of_these_the_last() {
        let memory = &Memory::new(None);
        let mut open = Open::new(memory);
        let state = |number| Waiting { number, length: 0 };
        for (rank, estimate, number) in [(5, 2, 0), (4, 3, 1), (4, 2, 2), (4, 3, 3), (9, 0, 4)] {
            open.push(rank, estimate, state(number)).unwrap();
        }
        assert_eq!(open.rank(), Some(4));
        let order: Vec<_> = std::iter::from_fn(|| open.pop()).map(|it| it.1.number).collect();
        assert_eq!(order, [2, 3, 1, 0, 4]);
        drop(open);
        assert_eq!(memory.used(), 0);
    }
}
