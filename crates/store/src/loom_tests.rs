//! All interleavings of small cases, with buckets of two slots and segments of one bucket:
//! `RUSTFLAGS="--cfg loom" cargo test --release -p spinward-store loom`.

use std::sync::Arc;

use loom::thread;

use crate::bitstate::Bitstate;
use crate::budget::Budget;
use crate::compact::Compact;
use crate::index::{Entry, Index, Records};
use crate::sync::{AtomicU32, Ordering};
use crate::{Full, Lossy, Set as _, Worker};

/// Records at places 1, 2, ...: their keys, zero while they are not written.
struct Keys([AtomicU32; 6]);

impl Keys {
    fn at(&self, place: u32) -> u32 {
        let key = self.0[place as usize].load(Ordering::Relaxed);
        assert_ne!(key, 0, "a record that is not written yet was seen");
        key
    }
}

impl Records for Keys {
    fn hash(&self, place: u32) -> u64 {
        hash(self.at(place))
    }

    fn prefetch(&self, _: u32) {}
}

/// Keys lie in one segment at first. A split sets those up to 10 apart from the others, and the
/// next those up to 5.
fn hash(key: u32) -> u64 {
    assert!(key < 16);
    u64::from(key) << 59 | u64::from(key)
}

struct Set {
    index: Index,
    keys: Keys,
    len: AtomicU32,
}

impl Set {
    fn new() -> Self {
        Self {
            index: Index::new(1, Arc::new(Budget::new(None))).unwrap(),
            keys: Keys(std::array::from_fn(|_| AtomicU32::new(0))),
            len: AtomicU32::new(0),
        }
    }

    fn insert(&self, key: u32) -> Result<(u32, bool), Full> {
        match self.index.find_or_claim(hash(key), &self.keys, |place| self.keys.at(place) == key)? {
            Entry::Known(place) => Ok((place, false)),
            Entry::Vacant(claim) => {
                let place = self.len.fetch_add(1, Ordering::Relaxed) + 1;
                self.keys.0[place as usize].store(key, Ordering::Relaxed);
                claim.fill(place);
                Ok((place, true))
            }
        }
    }
}

/// Inserts `before` alone, then the keys of two threads at once; each key must be new once and
/// have one place.
fn check(before: &'static [u32], threads: [&'static [u32]; 2]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.max_branches = 10_000;
    model.check(move || {
        let set = Arc::new(Set::new());
        let insert_all = |set: &Set, keys: &[u32]| -> Vec<(u32, (u32, bool))> {
            keys.iter().map(|&key| (key, set.insert(key).unwrap())).collect()
        };
        let mut inserted = insert_all(&set, before);
        let other = {
            let set = set.clone();
            thread::spawn(move || insert_all(&set, threads[1]))
        };
        inserted.extend(insert_all(&set, threads[0]));
        inserted.extend(other.join().unwrap());

        let mut places = vec![0; 16];
        let mut new = 0;
        for &(key, (place, is_new)) in &inserted {
            assert_eq!(set.keys.at(place), key);
            assert!(places[key as usize] == 0 || places[key as usize] == place);
            places[key as usize] = place;
            new += u32::from(is_new);
        }
        let distinct = places.iter().filter(|&&place| place != 0).count() as u32;
        assert_eq!((new, set.len.load(Ordering::Relaxed)), (distinct, distinct));
        for (key, (place, _)) in inserted {
            assert_eq!(set.insert(key).unwrap(), (place, false));
        }
    });
}

#[test]
fn loom_the_same_key() {
    check(&[], [&[2], &[2]]);
}

#[test]
fn loom_different_keys_in_one_bucket() {
    check(&[], [&[2], &[4]]);
    check(&[], [&[2, 4], &[4]]);
}

#[test]
fn loom_a_key_during_a_split() {
    check(&[2, 12], [&[4], &[4]]);
    check(&[2, 12], [&[4], &[14]]);
    check(&[2, 12], [&[4], &[12]]);
}

#[test]
fn loom_a_claim_during_a_split() {
    // The first thread fills the segment and splits it while the second claims a slot.
    check(&[2], [&[12, 4], &[14]]);
    check(&[2], [&[12, 4], &[12]]);
}

#[test]
fn loom_a_split_that_uses_memory_again() {
    // The second split gets the memory of the segment that the first one replaced, while the
    // second thread may still believe in that.
    check(&[2, 12], [&[4, 8], &[14]]);
    check(&[2, 12], [&[4, 8], &[8]]);
}

#[test]
fn loom_signatures_in_two_parts() {
    loom::model(|| {
        let store = Arc::new(Compact::new(64, 40, &Arc::new(Budget::new(None))).unwrap());
        let insert = |store: &Compact| {
            let prepared = store.prepare(b"key", &mut Worker::default()).unwrap();
            u32::from(store.insert(b"key", prepared).unwrap())
        };
        let other = {
            let store = store.clone();
            thread::spawn(move || insert(&store))
        };
        assert_eq!(insert(&store) + other.join().unwrap(), 1);
    });
}

#[test]
fn loom_what_was_inserted_is_known() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(None));
        let compact = Compact::new(64, 40, &budget).unwrap();
        let bitstate = Bitstate::new(8, 2, &budget).unwrap();
        let stores: Arc<[Box<dyn Lossy + Send>; 2]> =
            Arc::new([Box::new(compact), Box::new(bitstate)]);
        let insert = |stores: &[Box<dyn Lossy + Send>; 2], key: &[u8]| {
            for store in stores {
                let prepared = store.prepare(key, &mut Worker::default()).unwrap();
                store.insert(key, prepared).unwrap();
                assert!(store.contains(key, prepared));
            }
        };
        let other = {
            let stores = stores.clone();
            thread::spawn(move || insert(&stores, b"other"))
        };
        insert(&stores, b"key");
        other.join().unwrap();
        for store in &*stores {
            for key in [&b"key"[..], b"other"] {
                let prepared = store.prepare(key, &mut Worker::default()).unwrap();
                assert_eq!(store.insert(key, prepared), Ok(false));
            }
        }
    });
}
