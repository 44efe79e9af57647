//! The states that are known, in the order in which they became so.

use crate::limits::{Limit, Memory};

/// Words in a chunk, if forms are not larger.
const CHUNK: usize = 1 << 12;

/// Bits of a word that tell how many words a form has; the others tell a number.
const LENGTH_BITS: u32 = 24;

/// The states. Their place in it is their number.
pub(super) struct Log {
    chunks: Vec<Chunk>,
    pub len: u64,
    memory: Memory,
}

/// Some states, one behind the other: the number of the state each was reached from, in one word with how
/// many words its form has, and its form.
struct Chunk {
    /// The number of the first one.
    first: u64,
    words: Vec<u64>,
}

/// A place in the log.
#[derive(Clone, Copy, Default)]
pub(super) struct Cursor {
    pub number: u64,
    chunk: usize,
    word: usize,
}

impl Chunk {
    /// The bytes of one, and what its place in the list may cost while that list doubles.
    fn bytes(words: usize) -> u64 {
        (words * size_of::<u64>() + 4 * size_of::<Self>()) as u64
    }

    /// The state that begins with a word, and where it ends.
    #[inline]
    fn read(&self, word: usize) -> (u64, &[u64], usize) {
        let head = self.words[word];
        let end = word + 1 + (head & ((1 << LENGTH_BITS) - 1)) as usize;
        (head >> LENGTH_BITS, &self.words[word + 1..end], end)
    }
}

impl Log {
    pub fn new(memory: &Memory) -> Self {
        Self { chunks: Vec::new(), len: 0, memory: memory.clone() }
    }

    /// Appends a state that was reached from the one of this number.
    #[inline]
    pub fn push(&mut self, parent: u64, form: &[u64]) -> Result<(), Limit> {
        let needed = form.len() + 1;
        let has_room = |chunk: &Chunk| chunk.words.capacity() - chunk.words.len() >= needed;
        if !self.chunks.last().is_some_and(has_room) {
            self.add_chunk(needed)?;
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.words.push(parent << LENGTH_BITS | form.len() as u64);
            chunk.words.extend_from_slice(form);
            self.len += 1;
        }
        Ok(())
    }

    #[cold]
    fn add_chunk(&mut self, needed: usize) -> Result<(), Limit> {
        if needed >> LENGTH_BITS > 0 || self.len >> (u64::BITS - LENGTH_BITS) > 0 {
            return Err(Limit::Memory);
        }
        let words = needed.max(CHUNK);
        self.memory.take(Chunk::bytes(words))?;
        self.chunks.push(Chunk { first: self.len, words: Vec::with_capacity(words) });
        Ok(())
    }

    /// The state at a place before the end: the number of the one it was reached from, and its form. Goes
    /// on to the next place.
    #[inline]
    pub fn next(&self, at: &mut Cursor) -> (u64, &[u64]) {
        if at.word == self.chunks[at.chunk].words.len() {
            (at.chunk, at.word) = (at.chunk + 1, 0);
        }
        let (parent, form, end) = self.chunks[at.chunk].read(at.word);
        (at.number, at.word) = (at.number + 1, end);
        (parent, form)
    }

    /// The place of a number.
    pub fn find(&self, number: u64) -> Cursor {
        let chunk = self.chunks.partition_point(|chunk| chunk.first <= number).saturating_sub(1);
        let first = self.chunks.get(chunk).map_or(0, |chunk| chunk.first);
        let mut at = Cursor { number: first, chunk, word: 0 };
        while at.number < number {
            self.next(&mut at);
        }
        at
    }

    /// The number of the state that the one of this number was reached from, and its form.
    pub fn get(&self, number: u64) -> (u64, &[u64]) {
        self.next(&mut self.find(number))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        for chunk in std::mem::take(&mut self.chunks) {
            self.memory.give_back(Chunk::bytes(chunk.words.capacity()));
        }
    }
}
