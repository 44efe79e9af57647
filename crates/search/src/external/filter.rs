//! Which states are not among the expanded ones on disk.
//!
//! *Idea*: most states that are asked for are new, and to find that out by reading takes as long as to read all there
//! is if layers are thin. A Bloom filter (*Space/time trade-offs in hash coding with allowable errors*, 1970) says it of
//! most of them from memory: a few bits for each state, all in one word, so that one look is enough (F. Putze, P.
//! Sanders and J. Singler, *Cache-, hash- and space-efficient Bloom filters*, 2007, section 3).
//!
//! *Invariant*: of a state that was added it is never said that it is not there.

/// Bits for a state.
const BITS: u32 = 4;

/// Hashes of states.
pub(super) struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// An empty one, of about so many bytes.
    pub fn new(bytes: u64) -> Self {
        Self { words: vec![0; (bytes as usize / size_of::<u64>()).max(1)] }
    }

    pub fn bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64
    }

    /// The word for a hash, and its bits there.
    fn place(&self, hash: u64) -> (usize, u64) {
        // Another hash: bits of the one at hand decide where in memory a state is.
        let hash = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let word = (u128::from(hash) * self.words.len() as u128) >> u64::BITS;
        let bit = |number: u32| 1 << (hash >> (6 * number) & 63);
        (word as usize, (0..BITS).map(bit).fold(0, |all: u64, bit: u64| all | bit))
    }

    pub fn add(&mut self, hash: u64) {
        let (word, bits) = self.place(hash);
        self.words[word] |= bits;
    }

    /// Whether a state with this hash may have been added.
    pub fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        self.words[word] & bits == bits
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::hash_of;
    use super::*;

    #[test]
    fn what_was_added_is_there_and_little_else() {
        let mut filter = Filter::new(10_000);
        let hash = |number: u64| hash_of(&number.to_le_bytes());
        (0..8_000).for_each(|number| filter.add(hash(number)));
        assert!((0..8_000).all(|number| filter.may_have(hash(number))));
        let others = (8_000..88_000).filter(|&number| filter.may_have(hash(number))).count();
        // At ten bits for each.
        assert!(others < 80_000 / 20, "{others}");
    }
}
