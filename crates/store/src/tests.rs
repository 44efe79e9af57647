//! What every exact store must do, alone and with threads.

use std::collections::HashMap;
use std::sync::{Arc, Barrier, Mutex};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Budget, Exact, Full, Id, Store, Tree, Worker};

/// A key of one of some lengths, which the first four bytes determine; the same for the same number.
fn key(number: u32) -> Vec<u8> {
    const LENGTHS: [usize; 6] = [8, 13, 48, 51, 120, 400];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(number.into());
    let shape = random.next_u32() as usize % LENGTHS.len();
    let mut key = vec![0; LENGTHS[shape]];
    // Neighbours share most of their parts.
    key[0] = shape as u8;
    key[4..8].copy_from_slice(&number.to_le_bytes());
    for byte in key[8..].iter_mut().step_by(23) {
        *byte = random.next_u32() as u8;
    }
    key
}

fn insert(store: &dyn Store, key: &[u8], worker: &mut Worker) -> Result<(Id, bool), Full> {
    let prepared = store.prepare(key, worker)?;
    store.prefetch(prepared);
    store.prefetch_key(prepared);
    store.insert(key, prepared, worker)
}

const NAMES: [&str; 2] = ["exact", "tree"];

fn store(name: &str, budget: &Arc<Budget>) -> Box<dyn Store> {
    match name {
        "exact" => Box::new(Exact::new(budget).unwrap()),
        _ => Box::new(Tree::new(budget).unwrap()),
    }
}

#[test]
fn equals_a_hash_map() {
    let budget = Arc::new(Budget::new(None));
    for name in NAMES {
        let store = store(name, &budget);
        let mut worker = Worker::default();
        let mut twin = HashMap::new();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for _ in 0..300_000 {
            let key = key(random.next_u32() % 200_000);
            let next = twin.len() as Id;
            let expected = match twin.get(&key) {
                Some(&id) => (id, false),
                None => (next, true),
            };
            twin.entry(key.clone()).or_insert(next);
            assert_eq!(insert(&*store, &key, &mut worker), Ok(expected), "{name}");
        }
        assert_eq!(store.len(), twin.len() as u64, "{name}");
        let mut out = vec![1, 2, 3];
        for (key, id) in twin {
            store.get(id, &mut out, &mut worker);
            assert_eq!(out, key, "{name}");
        }
        assert_eq!(store.bytes(), budget.used(), "{name}");
        drop(store);
        assert_eq!(budget.used(), 0, "{name}");
    }
}

#[test]
fn keys_of_all_lengths_are_distinct() {
    let budget = Arc::new(Budget::new(None));
    for name in NAMES {
        let store = store(name, &budget);
        let mut worker = Worker::default();
        let lengths = || (0..300).chain([4095, 16_384, 1 << 20, 5, (3 << 20) + 1]);
        for fill in [0, 1] {
            for (number, len) in lengths().enumerate() {
                let key = vec![fill; len];
                // The string without bytes is one only, and 5 comes twice.
                let known = (fill == 1 && len == 0) || (len == 5 && number > 5);
                let (_, new) = insert(&*store, &key, &mut worker).unwrap();
                assert_eq!(new, !known, "{name} {fill} {len}");
            }
        }
        let mut out = Vec::new();
        for fill in [0, 1] {
            for len in lengths() {
                let key = vec![fill; len];
                let (id, new) = insert(&*store, &key, &mut worker).unwrap();
                assert!(!new);
                store.get(id, &mut out, &mut worker);
                assert_eq!(out, key, "{name}");
            }
        }
    }
}

#[test]
fn sixteen_threads_equal_a_locked_map() {
    const THREADS: u64 = 16;
    const KEYS: u32 = 60_000;
    let budget = Arc::new(Budget::new(None));
    for name in NAMES {
        let store = store(name, &budget);
        // By key: the numbers it was given, and how often it was new.
        let twin = Mutex::new(HashMap::<u32, (Id, u32)>::new());
        let barrier = Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (store, twin, barrier) = (&store, &twin, &barrier);
                scope.spawn(move || {
                    let mut worker = Worker::default();
                    let mut random = Xoshiro256PlusPlus::seed_from_u64(thread);
                    barrier.wait();
                    // Often the same keys at the same time.
                    for round in 0..40 {
                        let near = round * KEYS / 40;
                        let numbers: Vec<_> = (0..1500)
                            .map(|i| near + (i + random.next_u32() % 8) % (KEYS / 40))
                            .collect();
                        let given: Vec<_> = numbers
                            .iter()
                            .map(|&it| insert(&**store, &key(it), &mut worker).unwrap())
                            .collect();
                        let mut twin = twin.lock().unwrap();
                        for (&number, (id, new)) in numbers.iter().zip(given) {
                            let (known, news) = twin.entry(number).or_insert((id, 0));
                            assert_eq!(*known, id, "{name}");
                            *news += u32::from(new);
                        }
                    }
                });
            }
        });
        let twin = twin.into_inner().unwrap();
        assert_eq!(store.len(), twin.len() as u64, "{name}");
        let mut seen = vec![false; twin.len()];
        let (mut out, mut worker) = (Vec::new(), Worker::default());
        for (number, (id, news)) in twin {
            assert_eq!(news, 1, "{name}");
            assert!(!std::mem::replace(&mut seen[id as usize], true), "{name}");
            store.get(id, &mut out, &mut worker);
            assert_eq!(out, key(number), "{name}");
        }
    }
}

#[test]
fn a_full_store_keeps_what_it_has() {
    for limit in [1 << 20, 3 << 20, 10 << 20] {
        let budget = Arc::new(Budget::new(Some(limit)));
        for name in NAMES {
            let store = store(name, &budget);
            let mut worker = Worker::default();
            let mut twin = HashMap::new();
            let mut refused = 0;
            for number in 0.. {
                match insert(&*store, &key(number), &mut worker) {
                    Ok((id, new)) => {
                        assert!(new);
                        twin.insert(number, id);
                    }
                    Err(full) => {
                        assert_eq!(full, Full::Memory);
                        refused += 1;
                    }
                }
                if refused == 1000 {
                    break;
                }
            }
            assert!(twin.len() as u64 > limit / 400, "{name} {}", twin.len());
            assert!(budget.peak() <= limit);
            assert!(budget.used() > limit / 2, "{name} {} of {limit}", budget.used());
            let mut out = Vec::new();
            assert_eq!(store.len(), twin.len() as u64);
            for (&number, &id) in &twin {
                assert_eq!(insert(&*store, &key(number), &mut worker), Ok((id, false)));
                store.get(id, &mut out, &mut worker);
                assert_eq!(out, key(number));
            }
        }
    }
}

#[test]
fn threads_fill_a_store_up() {
    for name in NAMES {
        let budget = Arc::new(Budget::new(Some(6 << 20)));
        let store = store(name, &budget);
        let inserted = Mutex::new(HashMap::new());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (store, inserted) = (&store, &inserted);
                scope.spawn(move || {
                    let mut worker = Worker::default();
                    let mut mine = Vec::new();
                    let mut refused = 0;
                    // Two threads each have the same keys.
                    for number in (thread / 2..).step_by(4) {
                        match insert(&**store, &key(number), &mut worker) {
                            Ok((id, new)) => mine.push((number, id, new)),
                            Err(_) => refused += 1,
                        }
                        if refused == 100 {
                            break;
                        }
                    }
                    let mut inserted = inserted.lock().unwrap();
                    for (number, id, new) in mine {
                        let (known, news) = inserted.entry(number).or_insert((id, 0));
                        assert_eq!(*known, id, "{name}");
                        *news += u32::from(new);
                    }
                });
            }
        });
        assert!(budget.peak() <= budget.limit());
        let inserted = inserted.into_inner().unwrap();
        assert_eq!(store.len(), inserted.len() as u64, "{name}");
        let mut worker = Worker::default();
        for (number, (id, news)) in inserted {
            assert_eq!(news, 1, "{name}");
            assert_eq!(insert(&*store, &key(number), &mut worker), Ok((id, false)), "{name}");
        }
    }
}
