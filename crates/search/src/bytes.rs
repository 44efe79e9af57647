//! Strings of bytes, counted in the memory budget.

use crate::limits::{Limit, Memory};

/// Bytes in a chunk.
const CHUNK: usize = 1 << 16;

/// What a chunk costs; the list of chunks may be doubling.
const CHUNK_BYTES: u64 = (CHUNK + 4 * size_of::<Box<[u8]>>()) as u64;

/// A stack of strings, which whoever uses it tells apart by their lengths. It grows by chunks that
/// stay where they are (see [`crate::chunked`]); a string may lie in several.
#[derive(Debug, Default)]
pub(crate) struct ByteStack {
    chunks: Vec<Box<[u8]>>,
    length: usize,
}

impl ByteStack {
    /// Puts a string on top; if there is no room for all of it, nothing.
    pub fn push(&mut self, mut bytes: &[u8], memory: &Memory) -> Result<(), Limit> {
        let end = self.length + bytes.len();
        while self.chunks.len() * CHUNK < end {
            memory.take(CHUNK_BYTES)?;
            self.chunks.push(vec![0; CHUNK].into());
        }
        while !bytes.is_empty() {
            let room = &mut self.chunks[self.length / CHUNK][self.length % CHUNK..];
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            self.length += now.len();
            bytes = later;
        }
        Ok(())
    }

    /// Takes so many bytes away. Chunks are kept: a stack that shrinks often grows again.
    pub fn pop(&mut self, length: usize) {
        self.length -= length;
    }

    /// The topmost bytes, in place of what `out` has.
    pub fn top(&self, length: usize, out: &mut Vec<u8>) {
        self.read(self.length - length, length, out);
    }

    /// Drops everything, and gives the room back.
    pub fn release(&mut self, memory: &Memory) {
        memory.give_back(self.chunks.len() as u64 * CHUNK_BYTES);
        *self = Self::default();
    }

    /// The bytes from `start` on, in place of what `out` has.
    pub fn read(&self, start: usize, length: usize, out: &mut Vec<u8>) {
        out.clear();
        let mut at = start;
        while at < start + length {
            let there = &self.chunks[at / CHUNK][at % CHUNK..];
            let part = &there[..there.len().min(start + length - at)];
            out.extend_from_slice(part);
            at += part.len();
        }
    }
}

/// Strings one after the other in one piece, used again and again. What it holds room for stays
/// counted.
#[derive(Debug, Default)]
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    /// Adds a string.
    pub fn push(&mut self, bytes: &[u8], memory: &Memory) -> Result<(), Limit> {
        let held = self.0.capacity();
        let needed = self.0.len() + bytes.len();
        if needed > held {
            let room = needed.max(2 * held);
            // Both are there while what is in the old one is copied.
            memory.take(room as u64)?;
            self.0.reserve_exact(room - self.0.len());
            memory.give_back(held as u64);
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    /// All of it.
    pub fn all(&self) -> &[u8] {
        &self.0
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Drops everything, and gives the room back.
    pub fn release(&mut self, memory: &Memory) {
        memory.give_back(self.0.capacity() as u64);
        self.0 = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_across_chunks() {
        let memory = &Memory::new(None);
        let mut stack = ByteStack::default();
        let string = |number: usize| vec![number as u8; number % 7 * CHUNK / 3];
        for number in 0..30 {
            stack.push(&string(number), memory).unwrap();
        }
        let mut out = vec![1, 2, 3];
        stack.read(0, 0, &mut out);
        assert!(out.is_empty());
        stack.read(string(1).len(), string(2).len(), &mut out);
        assert_eq!(out, string(2));
        for number in (0..30).rev() {
            stack.top(string(number).len(), &mut out);
            assert_eq!(out, string(number));
            stack.pop(out.len());
        }
        assert_eq!(stack.length, 0);
        stack.release(memory);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn nothing_is_allocated_past_the_budget() {
        let memory = &Memory::new(Some(3 * CHUNK as u64));
        let mut stack = ByteStack::default();
        let pushed = (0..).take_while(|_| stack.push(&[7; 1000], memory).is_ok()).count();
        assert_eq!(pushed, 2 * CHUNK / 1000);
        let mut out = Vec::new();
        stack.top(1000, &mut out);
        assert_eq!(out, [7; 1000]);

        let memory = &Memory::new(Some(3000));
        let mut buffer = Buffer::default();
        let pushed = (0..).take_while(|_| buffer.push(&[7; 100], memory).is_ok()).count();
        // Room for 800 was there; room for 1600 and for those is too much at a time.
        assert_eq!(pushed, 16);
        assert_eq!(buffer.all(), [7; 1600]);
        assert!(memory.peak() <= 3000);
        buffer.release(memory);
        assert_eq!((memory.used(), buffer.all().len()), (0, 0));
    }
}
