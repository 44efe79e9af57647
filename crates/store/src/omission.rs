//! How many states a lossy store takes for known though they are new, and what to do about it.
//!
//! Formulas of Dillinger and Manolios (*Enhanced probabilistic verification with 3Spin and 3Murphi*,
//! SPIN 2005, and *Bloom filters in probabilistic verification*, FMCAD 2004) and of Stern and Dill
//! (CHARME 1995). They count states lost themselves; states that can only be reached through lost
//! ones are lost too, so where many are expected there may be more.

use crate::bitstate::MAX_HASHES;
use crate::compact::Shape;

/// What to expect of a search with a lossy store; by default that it loses nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Omissions {
    /// The expected number of states taken for known though they are new.
    pub expected: f64,
    /// The probability that there is even one.
    pub probability: f64,
}

impl Omissions {
    /// So many are expected, each lost by a chance of its own.
    pub fn new(expected: f64) -> Self {
        Self { expected, probability: -(-expected).exp_m1() }
    }
}

/// What to expect of [`Bitstate`](crate::Bitstate) with a table of `bits`, when `states` are
/// inserted: a new one is lost with the probability that all its bits are set, or if its hash of
/// 64 bits is that of another.
pub fn bitstate(bits: u64, hashes: u32, states: u64) -> Omissions {
    Omissions::new(by_bits(bits, hashes, states) + by_hashes(states))
}

/// How many are lost since their hash of 64 bits is that of another.
fn by_hashes(states: u64) -> f64 {
    (states as f64).powi(2) / 2.0_f64.powi(65)
}

/// How many are lost since all their bits are set.
fn by_bits(bits: u64, hashes: u32, states: u64) -> f64 {
    integral(states as f64, |inserted| lost(bits, hashes, inserted))
}

/// The probability that a new state is lost when so many are in the table.
fn lost(bits: u64, hashes: u32, inserted: f64) -> f64 {
    let hashes = f64::from(hashes);
    let filled = -(-hashes * inserted / bits as f64).exp_m1();
    filled.powf(hashes)
}

/// How many bits each state should set so that the fewest are lost over the whole search.
pub fn best_hashes(bits: u64, states: u64) -> u32 {
    let expected = |hashes: &u32| by_bits(bits, *hashes, states);
    // Near ln 2 times the bits for a state: there is one minimum, and it lies around.
    let around = (2.0_f64.ln() * bits as f64 / states.max(1) as f64) as u32;
    let candidates = around.saturating_sub(3).max(1)..=around.saturating_add(6);
    let candidates = candidates.take_while(|&hashes| hashes <= MAX_HASHES);
    candidates.min_by(|a, b| expected(a).total_cmp(&expected(b))).unwrap_or(MAX_HASHES)
}

/// What to expect of [`Compact`](crate::Compact) with so many cells and different signatures, when
/// `states` are inserted: each occupied cell that a new state passes has its signature with the
/// same small probability. That holds for cells in random order; in cache lines about twice as many
/// are passed when the table is nearly full. More states than cells are certain to be lost.
pub fn compact(cells: u64, signatures: f64, states: u64) -> Omissions {
    let stored = states.min(cells);
    let (m, n) = (cells as f64, stored as f64);
    let passed = (m + 1.0) * (harmonic(m + 1.0) - harmonic(m - n + 1.0)) - n;
    Omissions::new(passed.max(0.0) / signatures + (states - stored) as f64)
}

/// 1 + 1/2 + ... + 1/n.
fn harmonic(n: f64) -> f64 {
    if n < 100.0 {
        return (1..=n as u32).map(|i| 1.0 / f64::from(i)).sum();
    }
    const EULER: f64 = 0.577_215_664_901_532_9;
    n.ln() + EULER + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

/// What to expect of [`Bitstate`](crate::Bitstate) when so many states were told to be new: for one
/// that is stored, 1 / (1 - f) come, where f is the probability that a new one is lost. Where few
/// are lost this is [`bitstate`].
pub fn after_bitstate(bits: u64, hashes: u32, stored: u64) -> Omissions {
    let by_bits = integral(stored as f64, |inserted| {
        let lost = lost(bits, hashes, inserted);
        lost / (1.0 - lost).max(1e-3)
    });
    Omissions::new(by_bits + by_hashes(stored))
}

/// A lossy store and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// [`Bitstate`](crate::Bitstate).
    Bitstate {
        /// Bytes of the table.
        bytes: u64,
        /// Bits for each state.
        hashes: u32,
    },
    /// [`Compact`](crate::Compact).
    Compact {
        /// Bytes of the table.
        bytes: u64,
        /// Bits of a signature.
        bits: u32,
    },
}

impl Table {
    /// What to expect when so many states are inserted.
    pub fn omissions(self, states: u64) -> Omissions {
        match self {
            Self::Bitstate { bytes, hashes } => bitstate(bytes / 8 * 64, hashes, states),
            Self::Compact { bytes, bits } => {
                let shape = Shape::new(bytes, bits);
                compact(shape.cells(), shape.signatures(), states)
            }
        }
    }

    /// The one that loses fewest of so many states in so many bytes.
    ///
    /// The number of states is rarely known well, and a table of signatures that overflows is
    /// useless; so it should have room for a tenth more.
    pub fn best(bytes: u64, states: u64) -> Self {
        let best = Self::Bitstate { bytes, hashes: best_hashes(bytes / 8 * 64, states) };
        let wanted = states.saturating_add(states / 10);
        let compacts = [32, 40, 48, 64]
            .into_iter()
            .filter(|&bits| wanted <= Shape::new(bytes, bits).cells())
            .map(|bits| Self::Compact { bytes, bits });
        compacts.fold(best, |best, it| {
            let fewer = it.omissions(states).expected < best.omissions(states).expected;
            if fewer { it } else { best }
        })
    }
}

/// The integral from 0 to `end` of a function that is smooth, by Simpson's rule.
fn integral(end: f64, function: impl Fn(f64) -> f64) -> f64 {
    const INTERVALS: u32 = 1000;
    let width = end / f64::from(INTERVALS);
    let weight = |i| if i == 0 || i == INTERVALS { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
    let sum: f64 = (0..=INTERVALS).map(|i| weight(i) * function(width * f64::from(i))).sum();
    sum * width / 3.0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Bitstate, Budget, Compact, Full, Lossy, Set as _, Worker};

    fn close(left: f64, right: f64, tolerance: f64) -> bool {
        (left / right - 1.0).abs() < tolerance
    }

    /// Section 4 and figure 1 of the paper on 3Spin, with a megabyte of 2^20 bytes.
    #[test]
    fn figures_of_the_paper() {
        const STATES: u64 = 300_000_000;
        assert!(close(bitstate(1024 << 23, 21, STATES).expected, 20.7, 0.01));
        assert!(close(by_bits(1750 << 23, 21, STATES), 0.0042, 0.02));
        assert!(close(by_bits(1750 << 23, 35, STATES), 0.00073, 0.02));
        let cells = (400 << 20) / 4;
        let signatures = f64::from(u32::MAX);
        assert!(close(compact(cells, signatures, 33_000_000).probability, 0.0015, 0.1));
        assert!(close(compact(cells, signatures, 80_000_000).probability, 0.016, 0.05));
        assert!(close(compact(cells, signatures, 100_000_000).probability, 0.050, 0.05));
        let lost = compact(cells, signatures, 200_000_000).expected / 2e8;
        assert!(close(lost, 0.476, 0.01));
        let huge = (400 << 20) / 8;
        let probability = compact(huge, 2.0_f64.powi(64), huge * 9 / 10).probability;
        assert!((2e-12..5e-12).contains(&probability), "{probability}");
        for (states, hashes, lost) in [
            (100_000_000, 24, 5.6e-9),
            (100_000_000, 3, 0.000_16),
            (200_000_000, 24, 0.000_11),
            (400_000_000, 24, 0.038),
            (1_000_000_000, 24, 0.475),
            (1_000_000_000, 3, 0.0667),
        ] {
            let expected = bitstate(400 << 23, hashes, states).expected / states as f64;
            assert!(close(expected, lost, 0.05), "{states} {hashes}: {expected} for {lost}");
        }
    }

    #[test]
    fn best_numbers_of_hashes() {
        const STATES: u64 = 10_000_000;
        for (bits_a_state, best) in [
            (8.0, 7),
            (10.0, 8),
            (12.0, 10),
            (16.0, 12),
            (20.0, 15),
            (24.0, 18),
            (28.6, 21),
            (32.0, 24),
            (40.0, 29),
            (48.9, 35),
            (64.0, 46),
        ] {
            let bits = (bits_a_state * STATES as f64) as u64;
            assert_eq!(best_hashes(bits, STATES), best, "{bits_a_state}");
        }
        assert_eq!(best_hashes(8, 1 << 40), 1);
        assert_eq!(best_hashes(1 << 40, 1), MAX_HASHES);
        assert_eq!(best_hashes(1 << 40, 0), MAX_HASHES);
    }

    #[test]
    fn the_best_table_follows_the_method() {
        // Plenty of memory: wide signatures. Less: narrower ones. Little: bits.
        assert!(matches!(Table::best(1 << 30, 1 << 20), Table::Compact { bits: 64, .. }));
        assert!(matches!(Table::best(48 << 20, 8 << 20), Table::Compact { bits: 40, .. }));
        assert!(matches!(Table::best(8 << 20, 8 << 20), Table::Bitstate { .. }));
        assert!(matches!(Table::best(0, u64::MAX), Table::Bitstate { hashes: 1, .. }));
        for table in [(1 << 30, 1 << 20), (48 << 20, 8 << 20), (8 << 20, 8 << 20)] {
            let (bytes, states) = table;
            let best = Table::best(bytes, states).omissions(states).expected;
            let supertrace = Table::Bitstate { bytes, hashes: 3 };
            assert!(best < supertrace.omissions(states).expected);
        }
    }

    /// How many of so many different keys are taken for known.
    fn measure(store: &dyn Lossy, keys: u64) -> f64 {
        let mut worker = Worker::default();
        let mut lost = 0;
        for number in 0..keys {
            let key = [number, number % 7, 0].map(u64::to_le_bytes);
            let key = key.as_flattened();
            let prepared = store.prepare(key, &mut worker).unwrap();
            store.prefetch(prepared);
            let known = store.contains(key, prepared);
            assert_eq!(store.insert(key, prepared), Ok(!known));
            lost += u64::from(known);
            // Whether it was lost or not, now it is known.
            assert!(store.contains(key, prepared));
            assert_eq!(store.insert(key, prepared), Ok(false));
        }
        assert_eq!(store.len() + lost, keys);
        lost as f64
    }

    #[test]
    fn bitstate_loses_as_many_as_expected() {
        let budget = Arc::new(Budget::new(None));
        // Sizes that are no powers of two.
        for (bytes, hashes, keys) in [
            (1 << 20, 3, 1_000_000),
            (1_234_567, 7, 1_000_000),
            (999_999, 1, 100_000),
            (800_000, 12, 600_000),
        ] {
            let store = Bitstate::new(bytes, hashes, &budget).unwrap();
            let lost = measure(&store, keys);
            let expected = bitstate(store.bits(), store.hashes(), keys).expected;
            assert!(expected > 100.0, "{expected} is too few to compare");
            assert!((0.7..1.4).contains(&(lost / expected)), "{lost} for {expected}");
            let after = store.omissions().expected;
            assert!((0.8..1.25).contains(&(lost / after)), "{lost} for {after}");
            assert!(store.bytes() > bytes - 8 && budget.used() == store.bytes());
        }
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_tiny_table_of_bits_works() {
        let budget = Arc::new(Budget::new(None));
        let store = Bitstate::new(0, 200, &budget).unwrap();
        assert!(measure(&store, 1000) > 900.0);
    }

    #[test]
    fn compact_loses_as_many_as_expected() {
        let budget = Arc::new(Budget::new(None));
        for percent in [50, 80, 95] {
            for bits in [32, 48] {
                let store = Compact::new(4_000_000, bits, &budget).unwrap();
                let store = store.with_signatures(if bits == 32 { 4096 } else { 1 });
                let keys = store.cells() * percent / 100;
                let lost = measure(&store, keys);
                let after = store.omissions().expected;
                let expected = compact(store.cells(), store.signatures(), keys).expected;
                // Few losses are left to chance.
                if after > 10.0 {
                    let ratio = lost / after;
                    assert!((0.6..1.6).contains(&ratio), "{percent} %, {bits} bits: {ratio}");
                    // Lines fill up unevenly.
                    let ratio = lost / expected;
                    assert!((0.6..2.6).contains(&ratio), "{percent} %, {bits} bits: {ratio}");
                }
            }
        }
    }

    #[test]
    fn wide_signatures_lose_nothing_and_a_full_table_says_so() {
        let budget = Arc::new(Budget::new(Some(10 << 20)));
        for (bits, bytes_a_state) in [(32, 4.1), (40, 5.4), (48, 6.5), (52, 8.1), (64, 8.1)] {
            let store = Compact::new(1_000_003, bits, &budget).unwrap();
            let cells = store.cells();
            assert!(1e6 / (cells as f64) < bytes_a_state, "{bits}: {cells}");
            assert_eq!(measure(&store, cells * 98 / 100), 0.0, "{bits}");
            let mut worker = Worker::default();
            let mut stored = store.len();
            for number in 0..cells / 10 {
                let key = (number + (1 << 40)).to_le_bytes();
                let prepared = store.prepare(&key, &mut worker).unwrap();
                match store.insert(&key, prepared) {
                    Ok(new) => stored += u64::from(new),
                    Err(full) => assert_eq!(full, Full::Table),
                }
            }
            assert_eq!(store.len(), stored);
            assert!(stored <= cells && stored > cells * 99 / 100);
        }
        assert_eq!(Compact::new(11 << 20, 32, &budget).err(), Some(Full::Memory));
        assert_eq!(Bitstate::new(11 << 20, 3, &budget).err(), Some(Full::Memory));
        assert_eq!(budget.used(), 0);
    }
}
