//! Growing without moving.
//!
//! A `Vec` that doubles needs the old and the new memory at once, up to three times what it holds;
//! near the end of a memory budget that is the difference between finishing and not. Here memory
//! grows by chunks that stay where they are, and each is asked of the [`Memory`] budget before it
//! is allocated.

use std::collections::VecDeque;

use crate::limits::{Limit, Memory};

/// Elements in a chunk.
const CHUNK: usize = 1 << 12;

/// A vector in chunks; also a stack.
#[derive(Debug)]
pub(crate) struct Chunked<T> {
    chunks: Vec<Vec<T>>,
    length: usize,
}

impl<T: Copy> Chunked<T> {
    pub fn new() -> Self {
        Self { chunks: Vec::new(), length: 0 }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn push(&mut self, value: T, memory: &Memory) -> Result<(), Limit> {
        let chunk = self.length / CHUNK;
        if chunk == self.chunks.len() {
            memory.take(chunk_bytes::<T>())?;
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        self.chunks[chunk].push(value);
        self.length += 1;
        Ok(())
    }

    /// Chunks once allocated are kept: a stack that shrinks often grows again.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.length.checked_sub(1)?;
        self.length = last;
        self.chunks[last / CHUNK].pop()
    }

    pub fn get(&self, index: usize) -> T {
        self.chunks[index / CHUNK][index % CHUNK]
    }

    pub fn set(&mut self, index: usize, value: T) {
        self.chunks[index / CHUNK][index % CHUNK] = value;
    }

    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.chunks.iter().flatten().copied()
    }

    /// Makes it as long as said, if it is shorter.
    pub fn grow(&mut self, length: usize, value: T, memory: &Memory) -> Result<(), Limit> {
        while self.length < length {
            self.push(value, memory)?;
        }
        Ok(())
    }

    /// Drops everything, and gives the room back.
    pub fn release(&mut self, memory: &Memory) {
        memory.give_back(self.chunks.len() as u64 * chunk_bytes::<T>());
        *self = Self::new();
    }
}

/// A queue in chunks; a chunk is given back when it was read. The first chunks are small: there may
/// be many queues with little in them.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    chunks: VecDeque<Vec<T>>,
    /// How much of the first chunk was read.
    read: usize,
    length: usize,
}

/// Elements in the smallest chunk of a queue.
const SMALL_CHUNK: usize = 64;

impl<T: Copy> Queue<T> {
    pub fn new() -> Self {
        Self { chunks: VecDeque::new(), read: 0, length: 0 }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn push(&mut self, value: T, memory: &Memory) -> Result<(), Limit> {
        let room = match self.chunks.back() {
            None => SMALL_CHUNK,
            Some(chunk) if chunk.len() == chunk.capacity() => (2 * chunk.len()).min(CHUNK),
            Some(_) => 0,
        };
        if room > 0 {
            memory.take(bytes_of::<T>(room))?;
            self.chunks.push_back(Vec::with_capacity(room));
        }
        if let Some(chunk) = self.chunks.back_mut() {
            chunk.push(value);
        }
        self.length += 1;
        Ok(())
    }

    pub fn pop(&mut self, memory: &Memory) -> Option<T> {
        let first = self.chunks.front()?;
        let &value = first.get(self.read)?;
        self.read += 1;
        self.length -= 1;
        if self.read == first.len() {
            memory.give_back(bytes_of::<T>(first.capacity()));
            self.chunks.pop_front();
            self.read = 0;
        }
        Some(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.chunks.iter().flatten().skip(self.read).copied()
    }
}

/// A set of small numbers.
#[derive(Debug)]
pub(crate) struct Bits(Chunked<u64>);

impl Bits {
    pub fn new() -> Self {
        Self(Chunked::new())
    }

    pub fn contains(&self, index: u32) -> bool {
        let word = index as usize / 64;
        word < self.0.len() && self.0.get(word) & (1 << (index % 64)) != 0
    }

    /// Adds a number; whether it was not there before.
    pub fn insert(&mut self, index: u32, memory: &Memory) -> Result<bool, Limit> {
        let word = index as usize / 64;
        while self.0.len() <= word {
            self.0.push(0, memory)?;
        }
        let bits = self.0.get(word);
        let bit = 1 << (index % 64);
        self.0.set(word, bits | bit);
        Ok(bits & bit == 0)
    }

    /// Removes a number that is there.
    pub fn remove(&mut self, index: u32) {
        let word = index as usize / 64;
        self.0.set(word, self.0.get(word) & !(1 << (index % 64)));
    }
}

fn chunk_bytes<T>() -> u64 {
    bytes_of::<T>(CHUNK)
}

/// A chunk, and what its place in the list of chunks may cost while that list doubles.
fn bytes_of<T>(elements: usize) -> u64 {
    (elements * size_of::<T>() + 4 * size_of::<Vec<T>>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_and_queue_keep_their_order_across_chunks() {
        let memory = &Memory::new(None);
        let mut stack = Chunked::new();
        let mut queue = Queue::new();
        for i in 0..3 * CHUNK as u32 {
            stack.push(i, memory).unwrap();
            queue.push(i, memory).unwrap();
            if i % 3 == 0 {
                assert_eq!(queue.pop(memory), Some(i / 3));
                assert_eq!(stack.pop(), Some(i));
            }
        }
        assert_eq!(stack.len(), 2 * CHUNK);
        assert_eq!(stack.get(2), 4);
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop(memory)).collect();
        assert_eq!(rest, (CHUNK as u32..3 * CHUNK as u32).collect::<Vec<_>>());
        assert_eq!((queue.len(), queue.pop(memory)), (0, None));
        assert_eq!(memory.used(), stack.chunks.len() as u64 * chunk_bytes::<u32>());
        queue.push(7, memory).unwrap();
        assert_eq!((queue.len(), queue.iter().next()), (1, Some(7)));
        assert_eq!(queue.pop(memory), Some(7));
        stack.release(memory);
        assert_eq!((stack.len(), memory.used()), (0, 0));
        stack.grow(5, 9, memory).unwrap();
        assert!(stack.iter().eq([9; 5]));
    }

    #[test]
    fn nothing_is_allocated_past_the_budget() {
        let memory = &Memory::new(Some(3 * chunk_bytes::<u32>()));
        let mut stack = Chunked::new();
        let pushed = (0..).take_while(|&i| stack.push(i, memory).is_ok()).count();
        assert_eq!(pushed, 3 * CHUNK);
        assert_eq!(memory.used(), memory.peak());
    }

    #[test]
    fn bits() {
        let memory = &Memory::new(None);
        let mut bits = Bits::new();
        assert!(!bits.contains(200));
        assert!(bits.insert(200, memory).unwrap());
        assert!(!bits.insert(200, memory).unwrap());
        assert!(bits.contains(200) && !bits.contains(199));
    }
}
