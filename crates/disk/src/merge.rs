//! Several runs at a time.

use crate::error::Error;
use crate::run::{Cursor, Record};

/// Goes through several runs in the order of all their keys. Of records with one key the one with the lowest number
/// comes, once; of those the one with the lowest mark.
#[derive(Debug)]
pub struct Merge<'r> {
    cursors: Vec<Cursor<'r>>,
    /// Those with a record at hand, as a heap: none comes before the one at half its place.
    heap: Vec<usize>,
}

impl<'r> Merge<'r> {
    /// Through all these, from a key on.
    pub fn new(mut cursors: Vec<Cursor<'r>>, from: &[u8]) -> Result<Self, Error> {
        for cursor in &mut cursors {
            cursor.seek(from)?;
        }
        let heap = (0..cursors.len()).filter(|&it| cursors[it].record().is_some()).collect();
        let mut merge = Self { cursors, heap };
        for place in (0..merge.heap.len() / 2).rev() {
            merge.sink(place);
        }
        Ok(merge)
    }

    /// The record at hand.
    pub fn record(&self) -> Option<Record<'_>> {
        self.cursors[*self.heap.first()?].record()
    }

    /// The key of the record at hand.
    pub fn key(&self) -> Option<&[u8]> {
        self.cursors[*self.heap.first()?].key()
    }

    /// Goes on to the next key.
    pub fn advance(&mut self, key: &mut Vec<u8>) -> Result<(), Error> {
        key.clear();
        key.extend_from_slice(self.key().unwrap_or_default());
        while self.key() == Some(key) {
            let first = self.heap[0];
            self.cursors[first].advance()?;
            if self.cursors[first].record().is_none() {
                self.heap.swap_remove(0);
            }
            self.sink(0);
        }
        Ok(())
    }

    /// Whether one comes before another.
    fn precedes(&self, one: usize, other: usize) -> bool {
        let rank = |it: Record<'_>| (it.number, it.mark);
        let of = |it: usize| (self.cursors[it].key(), self.cursors[it].record().map(rank));
        of(one) < of(other)
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
