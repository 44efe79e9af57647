//! Chance that can be repeated.
//!
//! SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014): from a seed the
//! same numbers come everywhere and always. It also gives tables other hash functions ([`Salted`]).

use spinward_store::{Full, Lossy, Omissions, Set, Worker};

/// Numbers by chance.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// One of many that have a seed in common.
    pub fn new(seed: u64, number: u64) -> Self {
        Self(mix(seed.wrapping_add(Self::STEP)) ^ mix(number))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        mix(self.0)
    }

    /// A number below another one, which is not 0. All are as likely, as far as that can be told.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Puts items in any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for left in (2..=items.len()).rev() {
            items.swap(left - 1, self.below(left as u64) as usize);
        }
    }
}

/// Each number becomes another one.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A table with hash functions of its own, so that it loses other states than the next one does.
pub(super) struct Salted<T> {
    table: T,
    salt: u64,
}

impl<T> Salted<T> {
    pub fn new(table: T, salt: u64) -> Self {
        Self { table, salt }
    }
}

impl<T: Set> Set for Salted<T> {
    #[inline]
    fn prepare(&self, key: &[u8], worker: &mut Worker) -> Result<u64, Full> {
        Ok(mix(self.table.prepare(key, worker)? ^ self.salt))
    }

    #[inline]
    fn prefetch(&self, prepared: u64) {
        self.table.prefetch(prepared);
    }

    fn len(&self) -> u64 {
        self.table.len()
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }
}

impl<T: Lossy> Lossy for Salted<T> {
    fn contains(&self, key: &[u8], prepared: u64) -> bool {
        self.table.contains(key, prepared)
    }

    fn insert(&self, key: &[u8], prepared: u64) -> Result<bool, Full> {
        self.table.insert(key, prepared)
    }

    fn omissions(&self) -> Omissions {
        self.table.omissions()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spinward_store::{Bitstate, Budget};

    use super::*;

    #[test]
    fn all_orders_come_and_the_same_for_a_seed() {
        let mut seen = [0; 6];
        let mut chance = Chance::new(5, 1);
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            chance.shuffle(&mut items);
            seen[items[0] * 2 + usize::from(items[1] > items[2])] += 1;
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
        assert_eq!(Chance::new(5, 1).next(), Chance::new(5, 1).next());
        assert_ne!(Chance::new(5, 1).next(), Chance::new(5, 2).next());
        assert_ne!(Chance::new(5, 1).next(), Chance::new(6, 1).next());
    }

    #[test]
    fn other_hash_functions_lose_other_keys() {
        let lost = |salt| {
            let table = Bitstate::new(128, 2, &Arc::new(Budget::new(None))).unwrap();
            let (table, mut worker) = (Salted::new(table, salt), Worker::default());
            let is_lost = |key: &u32| {
                let key = &key.to_le_bytes();
                let prepared = table.prepare(key, &mut worker).unwrap();
                !table.insert(key, prepared).unwrap()
            };
            (0..300).filter(is_lost).collect::<Vec<_>>()
        };
        assert!(!lost(1).is_empty() && lost(1) == lost(1));
        assert_ne!(lost(1), lost(2));
    }
}
