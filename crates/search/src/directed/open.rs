//! The states that wait, the best first.
//!
//! Buckets by rank, and in a rank by estimate: of states that rank the same, those come first that are nearer to
//! an error, and of those the one that was reached last. A state that was reached by a shorter run also stays
//! where it was.

use std::collections::BTreeMap;

use crate::buffer::Buffer;
use crate::limits::{Limit, MAX_LENGTH, Memory};

/// A state that waits, and the length of the run to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub number: u32,
    pub length: u32,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// A state.
    State(Waiting),
    /// The state in whose place this was put.
    Ticket(u32),
}

impl From<Waiting> for Turn {
    fn from(next: Waiting) -> Self {
        match next.length & MARK {
            0 => Self::State(next),
            _ => Self::Ticket(next.length & !MARK),
        }
    }
}

/// Set in the length of a state if there is a ticket in its place; lengths leave this bit.
const MARK: u32 = !MAX_LENGTH;

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

    /// How many wait.
    pub fn len(&self) -> usize {
        self.buckets.values().map(|bucket| bucket.len()).sum()
    }

    /// Bytes of those that wait, without room for more.
    pub fn bytes(&self) -> u64 {
        (self.len() * size_of::<Waiting>()) as u64 + self.buckets.len() as u64 * BUCKET_BYTES
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

    /// The best of all, or what was put in its place: see [`Turn`].
    pub fn pop(&mut self) -> Option<Waiting> {
        let mut first = self.buckets.first_entry()?;
        let state = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
            self.memory.give_back(BUCKET_BYTES);
        }
        state
    }

    /// Looks at those that come next, at most so many, as long as `exchange` says something of each state: whether
    /// there is a ticket for it, below [`MAX_LENGTH`], which is put in its place.
    pub fn exchange_next(
        &mut self,
        most: usize,
        mut exchange: impl FnMut(Waiting) -> Option<Option<u32>>,
    ) {
        let next = self.buckets.values_mut().flat_map(|bucket| bucket.iter_mut().rev());
        for state in next.take(most).filter(|state| state.length & MARK == 0) {
            match exchange(*state) {
                Some(Some(ticket)) => state.length = ticket | MARK,
                Some(None) => {}
                None => break,
            }
        }
    }

    /// Puts all states back in whose place there is a ticket.
    pub fn take_back(&mut self, mut take: impl FnMut(u32) -> Waiting) {
        for state in self.buckets.values_mut().flat_map(|bucket| bucket.iter_mut()) {
            if let Turn::Ticket(ticket) = Turn::from(*state) {
                *state = take(ticket);
            }
        }
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
        let mut looked_at = Vec::new();
        for _ in 0..2 {
            open.exchange_next(4, |state| {
                looked_at.push(state.number);
                (state.number > 0).then(|| (state.number != 3).then_some(state.number + 10))
            });
        }
        assert_eq!(looked_at, [2, 3, 1, 0, 3, 0]);
        open.take_back(|ticket| state(ticket - 10));
        open.exchange_next(3, |state| Some((state.number != 3).then_some(state.number + 10)));
        let order: Vec<_> = std::iter::from_fn(|| open.pop()).map(Turn::from).collect();
        let [third, first, last] = [3, 0, 4].map(|number| Turn::State(state(number)));
        assert_eq!(order, [Turn::Ticket(12), third, Turn::Ticket(11), first, last]);
        drop(open);
        assert_eq!(memory.used(), 0);
    }
}
