//! Several runs at a time.

use crate::error::Error;
use crate::run::{Cursor, Record, prefix};

/// Goes through several runs in the order of all their keys. Of records with one key the one with the lowest number
/// comes, once; of those the one with the lowest mark.
#[derive(Debug)]
pub struct Merge<'r> {
    cursors: Vec<Cursor<'r>>,
    /// Those with a record at hand, as a heap: none comes before the one at half its place. Each with the beginning of
    /// its key, which mostly decides.
    heap: Vec<(u128, usize)>,
}

impl<'r> Merge<'r> {
    /// Through all these, from a key on.
    pub fn new(mut cursors: Vec<Cursor<'r>>, from: &[u8]) -> Result<Self, Error> {
        for cursor in &mut cursors {
            cursor.seek(from)?;
        }
        let heads = cursors.iter().enumerate();
        let heap = heads.filter_map(|(it, cursor)| Some((prefix(cursor.key()?), it))).collect();
        let mut merge = Self { cursors, heap };
        for place in (0..merge.heap.len() / 2).rev() {
            merge.sink(place);
        }
        Ok(merge)
    }

    /// The record at hand.
    pub fn record(&self) -> Option<Record<'_>> {
        self.cursors[self.heap.first()?.1].record()
    }

    /// The key of the record at hand.
    pub fn key(&self) -> Option<&[u8]> {
        self.cursors[self.heap.first()?.1].key()
    }

    /// Goes on to the next key.
    pub fn advance(&mut self, key: &mut Vec<u8>) -> Result<(), Error> {
        key.clear();
        key.extend_from_slice(self.key().unwrap_or_default());
        while self.key() == Some(key) {
            let first = self.heap[0].1;
            self.cursors[first].advance()?;
            match self.cursors[first].key() {
                Some(key) => self.heap[0].0 = prefix(key),
                None => {
                    self.heap.swap_remove(0);
                }
            }
            self.sink(0);
        }
        Ok(())
    }

    /// Whether one comes before another.
    fn precedes(&self, one: (u128, usize), other: (u128, usize)) -> bool {
        let rank = |it: Record<'_>| (it.number, it.mark);
        let of = |it: usize| (self.cursors[it].key(), self.cursors[it].record().map(rank));
        one.0 < other.0 || one.0 == other.0 && of(one.1) < of(other.1)
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let mut first = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.precedes(self.heap[child], self.heap[first]) {
                    first = child;
                }
            }
            if first == place {
                return;
            }
            self.heap.swap(place, first);
            place = first;
        }
    }
}
