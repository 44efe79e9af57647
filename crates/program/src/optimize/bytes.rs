//! Sets of bytes of a block.

use std::ops::Range;

/// Some bytes of a block, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(Vec<u64>);

impl Bytes {
    /// None of so many.
    pub fn none(bytes: u32) -> Self {
        Self(vec![0; bytes.div_ceil(64) as usize])
    }

    pub fn insert(&mut self, range: Range<u32>) {
        words(range).for_each(|(word, mask)| self.0[word] |= mask);
    }

    pub fn remove(&mut self, range: Range<u32>) {
        words(range).for_each(|(word, mask)| self.0[word] &= !mask);
    }

    fn contains(&self, at: u32) -> bool {
        self.0[at as usize / 64] & 1 << (at % 64) != 0
    }

    /// Whether any of a range is there.
    pub fn meets(&self, range: Range<u32>) -> bool {
        words(range).any(|(word, mask)| self.0[word] & mask != 0)
    }

    /// Adds those of another set; whether there were new ones.
    pub fn add(&mut self, other: &Self) -> bool {
        let mut new = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            new |= other & !*own != 0;
            *own |= other;
        }
        new
    }

    /// Keeps those that are in another set too.
    pub fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    /// Keeps those that are not in another set.
    pub fn drop(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= !other);
    }

    /// All of them, in order, as ranges that do not touch.
    pub fn ranges(&self) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for at in (0..self.0.len() as u32 * 64).filter(|&at| self.contains(at)) {
            match ranges.last_mut() {
                Some(last) if last.end == at => last.end = at + 1,
                _ => ranges.push(at..at + 1),
            }
        }
        ranges
    }
}

/// The words that a range is in, with its bits in them.
fn words(range: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    (range.start / 64..range.end.div_ceil(64)).map(move |word| {
        let first = range.start.saturating_sub(word * 64);
        let count = (range.end - word * 64).min(64) - first;
        (word as usize, u64::MAX.checked_shr(64 - count).unwrap_or(0) << first)
    })
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn ranges_are_what_was_put_in() {
        let mut bytes = Bytes::none(200);
        bytes.insert(3..5);
        bytes.insert(5..70);
        bytes.insert(199..200);
        bytes.remove(63..65);
        assert_eq!(bytes.ranges(), [3..63, 65..70, 199..200]);
        assert!(bytes.meets(60..64) && !bytes.meets(63..65));
        assert!(bytes.meets(0..200) && !bytes.meets(70..199) && !bytes.meets(0..0));
        bytes.remove(0..200);
        assert_eq!(bytes, Bytes::none(200));
    }
}
