//! The source of randomness: the same seed gives the same choices for ever.
//!
//! Choices are drawn from the generator's plain 64-bit numbers by the arithmetic below, so that they
//! do not depend on how any library maps numbers to ranges.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Dice.
#[derive(Clone, Debug)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// Dice that fall as `seed` says.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let high = self.0.next_u64() >> 32;
        ((high * n as u64) >> 32) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, if there are any.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(items.len());
        items.get(at)
    }

    /// One of `items`, each as often as its weight says.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn weighted<T: Copy>(&mut self, items: &[(usize, T)]) -> T {
        let total = items.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(total);
        for &(weight, item) in items {
            if at < weight {
                return item;
            }
            at -= weight;
        }
        unreachable!("the weights sum to more than zero")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut dice = Dice::new(1);
        let numbers: Vec<_> = (0..8).map(|_| dice.below(100)).collect();
        assert_eq!(numbers, [81, 74, 10, 74, 18, 59, 98, 52]);
    }

    #[test]
    fn weights_are_kept() {
        let mut dice = Dice::new(7);
        let count = (0..1000).filter(|_| dice.weighted(&[(1, false), (3, true)])).count();
        assert!((650..850).contains(&count));
    }
}
