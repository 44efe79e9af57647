//! The states that a thread knows, and those of them that wait to be expanded.

use spinward_store::{Flat, Spot};

use super::form::{Form, Renewal};
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory};

/// For how many states what will be looked at is brought into the cache together.
const TOGETHER: usize = 32;

/// Known states, all in one form, which changes when there is a better one.
pub(super) struct Known<F> {
    form: F,
    set: Flat,
    waiting: Stack,
    fresh: Fresh,
    memory: Memory,
}

/// States that are not looked up yet.
struct Fresh {
    words: Buffer<u64>,
    states: Buffer<Entry>,
}

/// Where a form ends, how many bytes it has, and its hash.
#[derive(Clone, Copy)]
struct Entry {
    end: u32,
    bytes: u32,
    hash: u64,
}

impl<F: Form> Known<F> {
    pub fn new(form: F, memory: &Memory) -> Self {
        Self {
            form,
            set: Flat::new(F::DENSITY, memory.budget()),
            waiting: Stack::new(memory),
            fresh: Fresh { words: Buffer::new(memory), states: Buffer::new(memory) },
            memory: memory.clone(),
        }
    }

    /// How many states.
    pub fn len(&self) -> u64 {
        self.set.len()
    }

    /// Adds a state, which is looked up [later](Self::settle).
    #[inline]
    pub fn add(&mut self, state: &[u8]) -> Result<(), Limit> {
        let Fresh { words, states } = &mut self.fresh;
        let start = words.len();
        let bytes = self.form.encode(state, words.with_room(F::longest(state.len()))?)?;
        let hash = Flat::hash(&words[start..]);
        let end = u32::try_from(words.len()).map_err(|_| Limit::Memory)?;
        states.push(Entry { end, bytes: bytes as u32, hash })
    }

    /// Looks up all states added, and calls for each whether it is new. New ones wait.
    pub fn settle(&mut self, mut each: impl FnMut(bool) -> Result<(), Limit>) -> Result<(), Limit> {
        let Self { set, waiting, fresh, .. } = self;
        let groups = || fresh.states.chunks(TOGETHER);
        // Tight loops, so that the processor waits for many at a time.
        let locate = |set: &Flat, group: &[Entry], spots: &mut [Spot; TOGETHER]| {
            for (entry, spot) in group.iter().zip(spots) {
                *spot = set.locate(entry.bytes as usize, entry.hash);
            }
            set.version()
        };
        let [mut now, mut later] = [[Spot::default(); TOGETHER]; 2];
        let mut version = groups().next().map_or(0, |first| locate(set, first, &mut now));
        let mut from = 0;
        for (group, next) in groups().zip(groups().skip(1).chain([&[][..]])) {
            if version != set.version() {
                locate(set, group, &mut now);
            }
            for (entry, &spot) in group.iter().zip(&now) {
                set.prefetch(entry.bytes as usize, entry.hash, spot);
            }
            version = locate(set, next, &mut later);
            for (&Entry { end, bytes, hash }, &spot) in group.iter().zip(&now) {
                let form = &fresh.words[from..end as usize];
                from = end as usize;
                let new = if set.version() == version {
                    set.insert_at(form, bytes as usize, hash, spot)?
                } else {
                    set.insert(form, bytes as usize, hash)?
                };
                if new {
                    waiting.push(form)?;
                }
                each(new)?;
            }
            now = later;
        }
        fresh.words.clear();
        fresh.states.clear();
        self.renew()
    }

    /// Puts a state that waits, the last one, into `out`; false if there is none.
    #[inline]
    pub fn next(&mut self, out: &mut Vec<u8>) -> bool {
        match self.waiting.top() {
            Some(form) => {
                self.form.decode(form, out);
                true
            }
            None => false,
        }
    }

    /// The last state does not wait any more.
    #[inline]
    pub fn pop(&mut self) {
        self.waiting.pop();
    }

    /// Whether no state waits.
    pub fn all_done(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Changes the form of states if it is time for that.
    fn renew(&mut self) -> Result<(), Limit> {
        let Self { form, set, waiting, memory, .. } = self;
        let mut state = Vec::new();
        match form.renew(set) {
            Renewal::None => {}
            Renewal::Some(bytes) => {
                let counts = |number: usize| bytes.get(number) == Some(&true);
                set.replace(counts, |old, out| {
                    form.decode(old, &mut state);
                    form.encode(&state, out)
                })?;
            }
            Renewal::All(mut other) => {
                set.replace(
                    |_| true,
                    |old, out| {
                        form.decode(old, &mut state);
                        other.encode(&state, out)
                    },
                )?;
                let mut new = Vec::new();
                let all = std::mem::replace(waiting, Stack::new(memory));
                all.each(|old| {
                    form.decode(old, &mut state);
                    new.clear();
                    other.encode(&state, &mut new)?;
                    waiting.push(&new)
                })?;
                *form = other;
            }
        }
        Ok(())
    }
}

/// Words in a chunk, if forms are not larger.
const CHUNK: usize = 1 << 13;

/// In place of the length of a form: it is in the word behind it.
const LONG: u8 = u8::MAX;

/// A stack of forms, in chunks that hold whole ones.
struct Stack {
    chunks: Vec<Chunk>,
    /// A chunk to be used again.
    spare: Option<Chunk>,
    memory: Memory,
}

/// Some forms, one behind the other, and how many words each has.
struct Chunk {
    words: Vec<u64>,
    lengths: Vec<u8>,
}

impl Chunk {
    /// Room for so many words, and as many forms.
    fn new(words: usize) -> Self {
        Self { words: Vec::with_capacity(words), lengths: Vec::with_capacity(words) }
    }

    /// Its bytes, and what its place in the list of chunks may cost while that list doubles.
    fn bytes(words: usize) -> u64 {
        (words * (size_of::<u64>() + size_of::<u8>()) + 4 * size_of::<Self>()) as u64
    }

    /// Appends a form; false if there is no room.
    #[inline]
    fn push(&mut self, form: &[u64]) -> bool {
        let length = u8::try_from(form.len()).unwrap_or(LONG);
        let words = form.len() + usize::from(length == LONG);
        if self.words.capacity() - self.words.len() < words {
            return false;
        }
        for &word in form {
            self.words.push(word);
        }
        if length == LONG {
            self.words.push(form.len() as u64);
        }
        self.lengths.push(length);
        true
    }

    /// Where the form that ends there begins, and where its words end.
    #[inline]
    fn last(&self, end: usize, length: u8) -> (usize, usize) {
        match length {
            LONG => (end - 1 - self.words[end - 1] as usize, end - 1),
            length => (end - usize::from(length), end),
        }
    }

    /// The last form.
    #[inline]
    fn top(&self) -> Option<&[u64]> {
        let (start, end) = self.last(self.words.len(), *self.lengths.last()?);
        Some(&self.words[start..end])
    }

    /// Drops the last form.
    #[inline]
    fn pop(&mut self) {
        if let Some(length) = self.lengths.pop() {
            self.words.truncate(self.last(self.words.len(), length).0);
        }
    }

    /// Calls for each form, from the first on.
    fn each(&self, mut call: impl FnMut(&[u64]) -> Result<(), Limit>) -> Result<(), Limit> {
        let mut end = self.words.len();
        let mut forms = Vec::with_capacity(self.lengths.len());
        for &length in self.lengths.iter().rev() {
            let form = self.last(end, length);
            end = form.0;
            forms.push(form);
        }
        forms.into_iter().rev().try_for_each(|(start, end)| call(&self.words[start..end]))
    }
}

impl Stack {
    fn new(memory: &Memory) -> Self {
        Self { chunks: Vec::new(), spare: None, memory: memory.clone() }
    }

    fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    #[inline]
    fn push(&mut self, form: &[u64]) -> Result<(), Limit> {
        if self.chunks.last_mut().is_some_and(|chunk| chunk.push(form)) {
            return Ok(());
        }
        self.push_chunk(form)
    }

    /// Pushes a form in a chunk of its own.
    #[cold]
    fn push_chunk(&mut self, form: &[u64]) -> Result<(), Limit> {
        let words = (form.len() + 1).max(CHUNK);
        let spare = self.spare.take_if(|spare| spare.words.capacity() >= words);
        let mut chunk = match spare {
            Some(spare) => spare,
            None => {
                self.memory.take(Chunk::bytes(words))?;
                Chunk::new(words)
            }
        };
        chunk.push(form);
        self.chunks.push(chunk);
        Ok(())
    }

    /// The last form.
    #[inline]
    fn top(&self) -> Option<&[u64]> {
        self.chunks.last()?.top()
    }

    /// Drops the last form.
    #[inline]
    fn pop(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.pop();
            if chunk.lengths.is_empty() {
                let empty = self.chunks.pop();
                let before = std::mem::replace(&mut self.spare, empty);
                self.give_back(before);
            }
        }
    }

    fn give_back(&self, chunk: Option<Chunk>) {
        if let Some(chunk) = chunk {
            self.memory.give_back(Chunk::bytes(chunk.words.capacity()));
        }
    }

    /// Calls for each form, from the first on, and frees it.
    fn each(mut self, mut call: impl FnMut(&[u64]) -> Result<(), Limit>) -> Result<(), Limit> {
        for chunk in std::mem::take(&mut self.chunks) {
            let called = chunk.each(&mut call);
            self.give_back(Some(chunk));
            called?;
        }
        Ok(())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        for chunk in std::mem::take(&mut self.chunks).into_iter().chain(self.spare.take()) {
            self.give_back(Some(chunk));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use spinward_machine::{Flow, Sink, System};

    use super::super::form::Packed;
    use super::*;

    /// Only what packing asks for.
    struct Lengths;

    impl System for Lengths {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, _: &mut Vec<u8>) {}

        fn expand(&self, _: &[u8], (): &mut (), _: &mut dyn Sink) -> Flow {
            Flow::Continue(())
        }
    }

    /// More and more bits change, and lengths occur, while it goes on.
    fn state(number: u32) -> Vec<u8> {
        let mut state = vec![7; 12 + (number.ilog2() as usize / 5) % 3 * 9];
        state[..3].copy_from_slice(&number.to_le_bytes()[..3]);
        state[5] = (number.wrapping_mul(0x9e37_79b9) >> 25) as u8 & number.ilog2() as u8;
        if number.is_multiple_of(5000) {
            state.resize(5000, 3);
        }
        state
    }

    #[test]
    fn states_are_known_whatever_their_form() {
        let memory = Memory::new(None);
        let mut known = Known::new(Packed::new(&Lengths), &memory);
        let mut twin = HashSet::new();
        let mut waiting = HashMap::new();
        let mut seed = 5_u32;
        for round in 0..40_000_u32 {
            let mut added = Vec::new();
            for _ in 0..7 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                added.push(state(1 + (seed >> 8) % (1 + 6 * round)));
                known.add(added.last().unwrap()).unwrap();
            }
            let mut states = added.into_iter();
            let each = |new: bool| {
                let state = states.next().unwrap();
                assert_eq!(new, twin.insert(state.clone()));
                if new {
                    *waiting.entry(state).or_insert(0) += 1;
                }
                Ok(())
            };
            known.settle(each).unwrap();
            if round.is_multiple_of(3) {
                let mut last = Vec::new();
                assert!(known.next(&mut last));
                known.pop();
                assert_eq!(waiting.remove(&last), Some(1));
            }
        }
        assert_eq!(known.len(), twin.len() as u64);
        assert!(twin.len() > 80_000, "{}", twin.len());
        let mut last = Vec::new();
        while known.next(&mut last) {
            known.pop();
            assert_eq!(waiting.remove(&last), Some(1));
        }
        assert!(waiting.is_empty());
        drop(known);
        assert_eq!(memory.used(), 0);
    }
}
