//! Which states are not in a run of expanded ones.
//!
//! *Idea*: most states that are asked for are new, and to find that out by reading takes as long as to read all there
//! is if layers are thin. A Bloom filter (*Space/time trade-offs in hash coding with allowable errors*, 1970) says it of
//! most of them from memory: a few bits for each state, all in one word, so that one look is enough (F. Putze, P.
//! Sanders and J. Singler, *Cache-, hash- and space-efficient Bloom filters*, 2007, section 3). Each run has one of its own, so
//! that a state that is known is looked for in the run that has it, and in few others.
//!
//! When there are more states, and each can have fewer bits, a filter is folded: two words that are neighbours become
//! one. So nothing has to be read again.
//!
//! *Invariant*: of a state that was added it is never said that it is not there.

/// Bits that are set for a state.
const BITS: u32 = 3;

/// So often a filter can be folded, at most.
const FOLDS: u32 = 5;

/// What is asked of filters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    hash: u64,
    bits: u64,
}

impl Probe {
    /// For a state whose key has this hash.
    pub fn new(hash: u64) -> Self {
        // Another hash: bits of the one at hand decide where in memory a state is.
        let hash = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bit = |number: u32| 1 << (hash >> (6 * number) & 63);
        Self { hash, bits: (0..BITS).map(bit).fold(0, |all: u64, bit: u64| all | bit) }
    }
}

/// Hashes of states.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    words: Vec<u64>,
    /// So often it can still be folded.
    folds: u32,
}

impl Filter {
    /// An empty one, of about so many bytes.
    pub fn new(bytes: u64) -> Self {
        let words = (bytes as usize / size_of::<u64>()).max(1);
        let folds = FOLDS.min(words.ilog2());
        Self { words: vec![0; words >> folds << folds], folds }
    }

    pub fn bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64
    }

    /// Which word is looked at.
    fn place(&self, probe: Probe) -> usize {
        ((u128::from(probe.hash) * self.words.len() as u128) >> u64::BITS) as usize
    }

    pub fn add(&mut self, probe: Probe) {
        let word = self.place(probe);
        self.words[word] |= probe.bits;
    }

    /// Whether the state may have been added.
    pub fn may_have(&self, probe: Probe) -> bool {
        self.words[self.place(probe)] & probe.bits == probe.bits
    }

    /// Whether it can be half as large.
    pub fn can_fold(&self) -> bool {
        self.folds > 0
    }

    /// Half as large.
    pub fn folded(&self) -> Self {
        // The place of a hash among half as many words is half of its place.
        let words = self.words.chunks_exact(2).map(|two| two[0] | two[1]).collect();
        Self { words, folds: self.folds - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::hash_of;
    use super::*;

    #[test]
    fn what_was_added_is_there_and_little_else() {
        let mut filter = Filter::new(10_000);
        let hash = |number: u64| Probe::new(hash_of(&number.to_le_bytes()));
        (0..8_000).for_each(|number| filter.add(hash(number)));
        // At ten bits for each, and at five.
        for (few, bytes) in [(80_000 / 20, 10_000), (80_000 / 5, 5_000)] {
            assert!((0..8_000).all(|number| filter.may_have(hash(number))));
            let others = (8_000..88_000).filter(|&number| filter.may_have(hash(number))).count();
            assert!(others < few, "{others}");
            assert!((bytes - 300..=bytes).contains(&filter.bytes()), "{}", filter.bytes());
            filter = filter.folded();
        }
        for states in [1, 3, 100] {
            let mut filter = Filter::new(states);
            (0..states).for_each(|number| filter.add(hash(number)));
            while filter.can_fold() {
                filter = filter.folded();
                assert!((0..states).all(|number| filter.may_have(hash(number))));
            }
        }
    }
}
