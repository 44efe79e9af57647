//! Successors on their way to where it is seen whether they are new.

use spinward_store::Flat;

use super::super::form::Form;
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory};

/// So many successors, or words of them, are many.
const SUCCESSORS: usize = 2048;
const WORDS: usize = 1 << 15;

/// A state that is not looked up yet.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    /// Where its form ends, and how many bytes that has.
    pub end: usize,
    pub bytes: u32,
    /// The number of the state it was reached from.
    pub parent: u64,
    /// How many steps it is away from the states that are expanded, or [`HERE`].
    pub length: u32,
}

/// The length of a move that led to the level that is expanded.
pub(super) const HERE: u32 = 0;

/// States that are not looked up yet, in the order in which they were reached.
pub(super) struct Arrivals {
    pub words: Buffer<u64>,
    pub hashes: Buffer<u64>,
    pub entries: Buffer<Arrival>,
    /// Whether all are as far away, at most one step, and have forms of as many bytes.
    alike: bool,
}

impl Arrivals {
    pub fn new(memory: &Memory) -> Self {
        Self {
            words: Buffer::new(memory),
            hashes: Buffer::new(memory),
            entries: Buffer::new(memory),
            alike: true,
        }
    }

    /// How many words each form has, if they are alike.
    pub fn words_alike(&self) -> Option<usize> {
        let first = self.entries.first().filter(|_| self.alike)?;
        Some(first.end)
    }

    pub fn is_full(&self) -> bool {
        self.entries.len() >= SUCCESSORS || self.words.len() >= WORDS
    }

    /// Adds a state.
    pub fn add<F: Form>(
        &mut self,
        state: &[u8],
        form: &mut F,
        parent: u64,
        length: u32,
    ) -> Result<(), Limit> {
        let start = self.words.len();
        let bytes = form.encode(state, self.words.with_room(F::longest(state.len()))?)?;
        let hash = Flat::hash(&self.words[start..]);
        let (end, bytes) = (self.words.len(), bytes as u32);
        self.note(hash, Arrival { end, bytes, parent, length })
    }

    /// Adds a form of so many bytes.
    #[inline]
    pub fn push(
        &mut self,
        form: &[u64],
        bytes: usize,
        parent: u64,
        length: u32,
    ) -> Result<(), Limit> {
        let arrival = Arrival { end: 0, bytes: bytes as u32, parent, length };
        self.push_hashed(form, Flat::hash(form), arrival)
    }

    /// Adds a form with this hash; where it ends is seen to.
    #[inline]
    pub fn push_hashed(&mut self, form: &[u64], hash: u64, arrival: Arrival) -> Result<(), Limit> {
        self.words.extend_from_slice(form)?;
        self.note(hash, Arrival { end: self.words.len(), ..arrival })
    }

    /// Notes the last form, with this hash.
    #[inline]
    fn note(&mut self, hash: u64, arrival: Arrival) -> Result<(), Limit> {
        let first = self.entries.first().copied().unwrap_or(arrival);
        let of = |it: Arrival| (it.length, it.bytes);
        self.alike &= arrival.length <= 1 && of(arrival) == of(first);
        self.hashes.push(hash)?;
        self.entries.push(arrival)
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.hashes.clear();
        self.entries.clear();
        self.alike = true;
    }
}
