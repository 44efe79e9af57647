//! The states that a thread knows, and those of them that wait to be expanded.

use spinward_store::{Flat, Key, Packets, Packing, Spot};

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
    /// How often all states were given another form.
    renewals: u64,
}

/// States that are not looked up yet, in their form.
pub(super) struct Fresh {
    words: Buffer<u64>,
    states: Buffer<Entry>,
}

impl Fresh {
    pub fn new(memory: &Memory) -> Self {
        Self { words: Buffer::new(memory), states: Buffer::new(memory) }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Adds a form of so many bytes.
    #[inline]
    pub fn push(&mut self, form: &[u64], bytes: usize, hash: u64) -> Result<(), Limit> {
        self.words.extend_from_slice(form)?;
        let end = u32::try_from(self.words.len()).map_err(|_| Limit::Memory)?;
        self.states.push(Entry { end, bytes: bytes as u32, hash })
    }

    /// Moves the last one elsewhere.
    fn move_last(&mut self, to: &mut Self) -> Result<(), Limit> {
        let Some(Entry { bytes, hash, .. }) = self.states.pop() else {
            return Ok(());
        };
        let start = self.states.last().map_or(0, |last| last.end as usize);
        to.push(&self.words[start..], bytes as usize, hash)?;
        self.words.truncate(start);
        Ok(())
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.states.clear();
    }
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
            fresh: Fresh::new(memory),
            memory: memory.clone(),
            renewals: 0,
        }
    }

    /// How many states.
    pub fn len(&self) -> u64 {
        self.set.len()
    }

    /// Adds a state, which is looked up [later](Self::settle), and tells its hash.
    #[inline]
    pub fn add(&mut self, state: &[u8]) -> Result<u64, Limit> {
        let Fresh { words, states } = &mut self.fresh;
        let start = words.len();
        let bytes = self.form.encode(state, words.with_room(F::longest(state.len()))?)?;
        let hash = Flat::hash(&words[start..]);
        let end = u32::try_from(words.len()).map_err(|_| Limit::Memory)?;
        states.push(Entry { end, bytes: bytes as u32, hash })?;
        Ok(hash)
    }

    /// Moves the state that was added last elsewhere.
    pub fn move_last(&mut self, to: &mut Fresh) -> Result<(), Limit> {
        self.fresh.move_last(to)
    }

    /// Takes states that wait and are packed with a mask, until one is not; how many.
    pub fn take<const W: usize>(&mut self, mask: usize, forms: &mut [Key<W>]) -> usize {
        let Some(packing) = self.form.packing() else {
            return 0;
        };
        let (bits, code) = packing.code(mask);
        let mut taken = 0;
        while let Some(chunk) = self.waiting.chunks.last_mut() {
            let before = taken;
            for place in &mut forms[taken..] {
                let Some(form) = chunk.take(bits, code) else {
                    break;
                };
                *place = form;
                taken += 1;
            }
            if !chunk.lengths.is_empty() || taken == before {
                break;
            }
            self.waiting.drop_empty();
        }
        taken
    }

    /// Looks up states that are packed with one mask. New ones wait.
    pub fn insert(&mut self, packets: &Packets) -> Result<(), Limit> {
        let Some(packing) = self.form.packing().filter(|_| !packets.is_empty()) else {
            return Ok(());
        };
        let bytes = packing.bytes(packets.mask());
        match bytes.div_ceil(size_of::<u64>()) {
            1 => self.insert_all::<1>(bytes, packets),
            2 => self.insert_all::<2>(bytes, packets),
            3 => self.insert_all::<3>(bytes, packets),
            4 => self.insert_all::<4>(bytes, packets),
            5 => self.insert_all::<5>(bytes, packets),
            6 => self.insert_all::<6>(bytes, packets),
            7 => self.insert_all::<7>(bytes, packets),
            _ => self.insert_all::<8>(bytes, packets),
        }
    }

    fn insert_all<const W: usize>(&mut self, bytes: usize, packets: &Packets) -> Result<(), Limit> {
        let Self { set, waiting, .. } = self;
        let asleep = packets.asleep();
        set.insert_all(bytes, packets.keys::<W>(), packets.hashes(), |index, form| {
            waiting.push(form, asleep[index])
        })
    }

    /// Looks up all states added, and calls for each whether it is new. New ones wait.
    pub fn settle(&mut self, each: impl FnMut(bool) -> Result<(), Limit>) -> Result<(), Limit> {
        let Self { set, waiting, fresh, .. } = self;
        Self::look_up(set, waiting, fresh, each)?;
        fresh.clear();
        Ok(())
    }

    /// Looks up states from elsewhere. New ones wait.
    pub fn settle_all(&mut self, fresh: &Fresh) -> Result<(), Limit> {
        Self::look_up(&mut self.set, &mut self.waiting, fresh, |_| Ok(()))
    }

    fn look_up(
        set: &mut Flat,
        waiting: &mut Stack,
        fresh: &Fresh,
        mut each: impl FnMut(bool) -> Result<(), Limit>,
    ) -> Result<(), Limit> {
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
                    waiting.push(form, 0)?;
                }
                each(new)?;
            }
            now = later;
        }
        Ok(())
    }

    /// The form of a state that waits, the last one.
    #[inline]
    pub fn top(&self) -> Option<&[u64]> {
        self.waiting.top()
    }

    /// Puts the state in a form into `out`.
    #[inline]
    pub fn decode(&mut self, form: &[u64], out: &mut Vec<u8>) {
        self.form.decode(form, out);
    }

    /// How states are packed, if they are, and how often that changed for all of them.
    #[inline]
    pub fn packing(&self) -> Option<(&Packing, u64)> {
        Some((self.form.packing()?, self.renewals))
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

    /// How many states wait, or more than a few.
    pub fn waiting(&self) -> u64 {
        match &self.waiting.chunks[..] {
            [] => 0,
            [only] => only.lengths.len() as u64,
            _ => u64::from(u32::MAX),
        }
    }

    /// Whether no state waits.
    pub fn all_done(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes note of a state that there is, though it is not known: what a form should suit.
    pub fn note(&mut self, state: &[u8]) {
        self.form.note(state);
    }

    /// Whether it is time to look for a better form.
    pub fn is_due(&mut self) -> bool {
        self.form.is_due(self.set.len())
    }

    /// Changes the form of the states that all threads know if there is a better one; then `owner` says by
    /// its hash which of them a state belongs to. No state may have been added that was not looked up.
    pub fn renew(all: &mut [&mut Self], owner: impl Fn(u64) -> usize) -> Result<(), Limit> {
        let (mut forms, sets): (Vec<_>, Vec<_>) =
            all.iter_mut().map(|known| (&mut known.form, &known.set)).unzip();
        let mut state = Vec::new();
        let (mut new, some) = match F::renewal(&mut forms, &sets) {
            Renewal::None => return Ok(()),
            Renewal::Some(new, bytes) => (new, Some(bytes)),
            Renewal::All(new) => (new, None),
        };
        let counts =
            |number: usize| some.as_ref().is_none_or(|some| some.get(number) == Some(&true));
        let mut sets = Vec::new();
        let mut others = Vec::new();
        for known in all {
            let Self { form, set, waiting, memory, renewals, .. } = &mut **known;
            sets.push(set);
            others.push((form, waiting, memory, renewals));
        }
        let Some((form, ..)) = others.first_mut() else {
            return Ok(());
        };
        Flat::replace(&mut sets, counts, owner, |old, out| {
            form.decode(old, &mut state);
            new.encode(&state, out)
        })?;
        let mut words = Vec::new();
        for (form, waiting, memory, renewals) in others {
            if some.is_none() {
                *renewals += 1;
                let all = std::mem::replace(waiting, Stack::new(memory));
                all.each(|old, asleep| {
                    form.decode(old, &mut state);
                    words.clear();
                    new.encode(&state, &mut words)?;
                    waiting.push(&words, asleep)
                })?;
            }
            form.become_like(&new);
        }
        Ok(())
    }
}

/// Words in a chunk, if forms are not larger.
const CHUNK: usize = 1 << 13;

/// In place of the length of a form: it is in the word behind it.
const LONG: u8 = u8::MAX;

/// A stack of forms, each with a word that tells the actors that sleep, or whatever is to be known of it, in chunks that hold whole
/// ones.
pub(super) struct Stack {
    chunks: Vec<Chunk>,
    /// A chunk to be used again.
    spare: Option<Chunk>,
    memory: Memory,
}

/// Some forms, one behind the other, each with one word more for the actors that sleep, and how many words
/// each has without that.
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
    #[inline(always)]
    fn push(&mut self, form: &[u64], asleep: u64) -> bool {
        let length = u8::try_from(form.len()).unwrap_or(LONG);
        let words = form.len() + 1 + usize::from(length == LONG);
        if self.words.capacity() - self.words.len() < words {
            return false;
        }
        self.words.extend_from_slice(form);
        self.words.push(asleep);
        if length == LONG {
            self.words.push(form.len() as u64);
        }
        self.lengths.push(length);
        true
    }

    /// Where the form that ends there begins, and where its words end and the other one is.
    #[inline]
    fn last(&self, end: usize, length: u8) -> (usize, usize) {
        match length {
            LONG => (end - 2 - self.words[end - 1] as usize, end - 2),
            length => (end - 1 - usize::from(length), end - 1),
        }
    }

    /// The last form.
    #[inline]
    fn top(&self) -> Option<&[u64]> {
        let (start, end) = self.last(self.words.len(), *self.lengths.last()?);
        Some(&self.words[start..end])
    }

    /// Takes the last form if it has so many words and some bits of the first are these.
    #[inline(always)]
    fn take<const W: usize>(&mut self, bits: u64, values: u64) -> Option<Key<W>> {
        let (&asleep, before) = self.words.split_last()?;
        let words = *before.last_chunk::<W>()?;
        if usize::from(*self.lengths.last()?) != W || words[0] & bits != values {
            return None;
        }
        self.words.truncate(self.words.len() - W - 1);
        self.lengths.pop();
        Some(Key { words, asleep })
    }

    /// Drops the last form.
    #[inline]
    fn pop(&mut self) {
        if let Some(length) = self.lengths.pop() {
            self.words.truncate(self.last(self.words.len(), length).0);
        }
    }

    /// All forms with their actors that sleep, from the first on.
    fn forms(&self) -> impl Iterator<Item = (&[u64], u64)> {
        let mut end = self.words.len();
        let mut forms = Vec::with_capacity(self.lengths.len());
        for &length in self.lengths.iter().rev() {
            let form = self.last(end, length);
            end = form.0;
            forms.push(form);
        }
        forms.into_iter().rev().map(|(start, end)| (&self.words[start..end], self.words[end]))
    }
}

impl Stack {
    pub fn new(memory: &Memory) -> Self {
        Self { chunks: Vec::new(), spare: None, memory: memory.clone() }
    }

    fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    #[inline(always)]
    pub fn push(&mut self, form: &[u64], asleep: u64) -> Result<(), Limit> {
        if self.chunks.last_mut().is_some_and(|chunk| chunk.push(form, asleep)) {
            return Ok(());
        }
        self.push_chunk(form, asleep)
    }

    /// Pushes a form in a chunk of its own.
    #[cold]
    fn push_chunk(&mut self, form: &[u64], asleep: u64) -> Result<(), Limit> {
        let words = (form.len() + 2).max(CHUNK);
        let spare = self.spare.take_if(|spare| spare.words.capacity() >= words);
        let mut chunk = match spare {
            Some(spare) => spare,
            None => {
                self.memory.take(Chunk::bytes(words))?;
                Chunk::new(words)
            }
        };
        chunk.push(form, asleep);
        self.chunks.push(chunk);
        Ok(())
    }

    /// The last form.
    #[inline]
    fn top(&self) -> Option<&[u64]> {
        self.chunks.last()?.top()
    }

    /// The last form with its word.
    #[inline]
    pub fn top_with(&self) -> Option<(&[u64], u64)> {
        let chunk = self.chunks.last()?;
        let (start, end) = chunk.last(chunk.words.len(), *chunk.lengths.last()?);
        Some((&chunk.words[start..end], chunk.words[end]))
    }

    /// Changes the word of the last form.
    #[inline]
    pub fn set_top(&mut self, word: u64) {
        if let Some(chunk) = self.chunks.last_mut()
            && let Some(&length) = chunk.lengths.last()
        {
            let (_, end) = chunk.last(chunk.words.len(), length);
            chunk.words[end] = word;
        }
    }

    /// All forms with their words, from the first on.
    pub fn iter(&self) -> impl Iterator<Item = (&[u64], u64)> {
        self.chunks.iter().flat_map(Chunk::forms)
    }

    /// Drops the last form.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.pop();
            if chunk.lengths.is_empty() {
                self.drop_empty();
            }
        }
    }

    /// Drops the last chunk, which is empty, but keeps it to be used again.
    fn drop_empty(&mut self) {
        let empty = self.chunks.pop();
        let before = std::mem::replace(&mut self.spare, empty);
        self.give_back(before);
    }

    fn give_back(&self, chunk: Option<Chunk>) {
        if let Some(chunk) = chunk {
            self.memory.give_back(Chunk::bytes(chunk.words.capacity()));
        }
    }

    /// Calls for each form, from the first on, and frees it.
    pub fn each(
        mut self,
        mut call: impl FnMut(&[u64], u64) -> Result<(), Limit>,
    ) -> Result<(), Limit> {
        for chunk in std::mem::take(&mut self.chunks) {
            let called = chunk.forms().try_for_each(|(form, asleep)| call(form, asleep));
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
            if known.is_due() {
                Known::renew(&mut [&mut known], |_| 0).unwrap();
            }
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
