//! Measures the stores: `cargo run --release -p spinward-store --example speed [million keys]`.
//!
//! Keys have 48 bytes. *Random* ones have nothing in common, *similar* ones
//! differ in two words; those of the *search* come like the
//! successors of states: each differs in one place from its parent, and most are known.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rapidhash::v3::rapidhash_v3;
use spinward_store::{Budget, Exact, Store, Tree, Worker};

const BYTES: usize = 48;
const BATCH: usize = 16;

fn main() {
    let millions = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(5);
    let count = millions * 1_000_000;
    hashes();
    let random = random_keys(count);
    let budget = Arc::new(Budget::new(None));
    run("exact, random", &Exact::new(&budget).unwrap(), &random);
    drop(random);
    let similar = similar_keys(count);
    run("exact, similar", &Exact::new(&budget).unwrap(), &similar);
    run("tree, similar", &Tree::new(&budget).unwrap(), &similar);
    drop(similar);
    search("exact", &Exact::new(&budget).unwrap(), millions);
    let tree = Tree::new(&budget).unwrap();
    search("tree", &tree, millions);
    println!("tree             {} parts", tree.parts());
    for threads in [1, 2] {
        share("exact", &Exact::new(&budget).unwrap(), count, threads);
        share("tree", &Tree::new(&budget).unwrap(), count, threads);
    }
}

/// Threads insert the same numbers, each beginning elsewhere: all but one insertion of each number
/// finds it known.
fn share(name: &str, store: &dyn Store, count: usize, threads: usize) {
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let mut worker = Worker::default();
                let mut key = [0; BYTES];
                for turn in 0..2 * count / threads {
                    let number = (turn + thread * count / threads) % count;
                    key[..8].copy_from_slice(&(number % 2048).to_le_bytes());
                    key[32..40].copy_from_slice(&(number / 2048).to_le_bytes());
                    let prepared = store.prepare(&key, &mut worker).unwrap();
                    store.insert(&key, prepared, &mut worker).unwrap();
                }
            });
        }
    });
    let time = started.elapsed().as_nanos() as f64 / (2 * count) as f64;
    println!(
        "{name:16} {threads} threads          {time:6.1} ns (by the clock), {} states",
        store.len()
    );
}

/// Nanoseconds this thread ran, so that other work on the machine does not count; or the clock.
fn now() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let clock =
        || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_nanos() as u64);
    text.and_then(|it| it.split(' ').next()?.parse().ok()).unwrap_or_else(clock)
}

/// Numbers that look random.
fn mix(number: u64) -> u64 {
    rapidhash_v3(&number.to_le_bytes())
}

fn random_keys(count: usize) -> Vec<[u8; BYTES]> {
    (0..count as u64)
        .map(|number| {
            let mut key = [0; BYTES];
            for (word, bytes) in key.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                *bytes = mix(number * 8 + word as u64).to_le_bytes();
            }
            key[..4].fill(0);
            key
        })
        .collect()
}

/// Neighbours differ in one word mostly, and in two at times.
fn similar_keys(count: usize) -> Vec<[u8; BYTES]> {
    let key = |number: usize| {
        let mut key = [0; BYTES];
        key[..8].copy_from_slice(&(number / 2048).to_le_bytes());
        key[32..40].copy_from_slice(&(number % 2048).to_le_bytes());
        key
    };
    (0..count).map(key).collect()
}

/// A breadth-first search of independent counters: each state has as many successors as counters,
/// and each differs from it in one byte.
fn search(name: &str, store: &dyn Store, millions: usize) {
    let mut bases = vec![10, 9, 8, 7, 6, 5, 4, 3];
    let states = |bases: &[u8]| bases.iter().map(|&it| usize::from(it)).product::<usize>();
    while states(&bases) < millions * 1_000_000 {
        let smallest = bases.iter_mut().min().unwrap();
        *smallest += 1;
    }
    let mut worker = Worker::default();
    let started = now();
    let (mut key, mut parent) = (vec![0; BYTES], Vec::new());
    let prepared = store.prepare(&key, &mut worker).unwrap();
    store.insert(&key, prepared, &mut worker).unwrap();
    let mut id = 0;
    let mut keys = vec![[0; BYTES]; bases.len()];
    let mut prepared = vec![0; bases.len()];
    while u64::from(id) < store.len() {
        store.get(id, &mut parent, &mut worker);
        for (counter, &base) in bases.iter().enumerate() {
            key.copy_from_slice(&parent);
            let digit = &mut key[4 + 5 * counter];
            *digit = if *digit + 1 == base { 0 } else { *digit + 1 };
            keys[counter].copy_from_slice(&key);
            prepared[counter] = store.prepare(&key, &mut worker).unwrap();
            store.prefetch(prepared[counter]);
        }
        prepared.iter().for_each(|&it| store.prefetch_key(it));
        for (key, &prepared) in keys.iter().zip(&prepared) {
            store.insert(key, prepared, &mut worker).unwrap();
        }
        id += 1;
    }
    let transitions = store.len() as usize * bases.len();
    let time = (now() - started) as f64 / transitions as f64;
    let per_state = store.bytes() as f64 / store.len() as f64;
    println!(
        "{name:16} search             {time:6.1} ns, {:5.2} million/s, {} states, {per_state:.2} \
         bytes a state",
        1e3 / time,
        store.len()
    );
}

fn run(name: &str, store: &dyn Store, keys: &[[u8; BYTES]]) {
    let mut worker = Worker::default();
    let half = keys.len() / 2;
    let passes = [
        ("new, one by one", 0..half, false),
        ("new, in batches", half..keys.len(), true),
        ("known, one by one", 0..half, false),
        ("known, in batches", half..keys.len(), true),
        ("known, in batches", 0..half, true),
    ];
    for (pass, range, batched) in passes {
        let keys = &keys[range];
        let started = now();
        let mut new = 0;
        for batch in keys.chunks(if batched { BATCH } else { 1 }) {
            let mut prepared = [0; BATCH];
            for (key, prepared) in batch.iter().zip(&mut prepared) {
                *prepared = store.prepare(key, &mut worker).unwrap();
                if batched {
                    store.prefetch(*prepared);
                }
            }
            if batched {
                prepared[..batch.len()].iter().for_each(|&it| store.prefetch_key(it));
            }
            for (key, prepared) in batch.iter().zip(prepared) {
                new += u64::from(store.insert(key, prepared, &mut worker).unwrap().1);
            }
        }
        let time = (now() - started) as f64 / keys.len() as f64;
        println!("{name:16} {pass:18} {time:6.1} ns, {:5.2} million/s, {new} new", 1e3 / time);
    }
    let per_state = store.bytes() as f64 / store.len() as f64;
    println!("{name:16} {} states, {per_state:.2} bytes a state", store.len());
}

fn hashes() {
    for len in [16, 24, 32, 48, 64, 96, 128] {
        let data: Vec<u8> = (0..1 << 14).map(|number| mix(number) as u8).collect();
        // The fastest of some rounds: others work on the machine too.
        let time = |hash: &dyn Fn(&[u8]) -> u64| {
            let round = || {
                let started = Instant::now();
                let keys = data.windows(len).step_by(8);
                let count = keys.len();
                black_box(keys.fold(0, |sum, key| sum ^ hash(black_box(key))));
                started.elapsed().as_nanos() as f64 / count as f64
            };
            (0..300).map(|_| round()).fold(f64::INFINITY, f64::min)
        };
        use std::hash::{BuildHasher, Hasher};
        let fold = foldhash::fast::FixedState::with_seed(1);
        let quality = foldhash::quality::FixedState::with_seed(1);
        println!(
            "{len:4} bytes: rapidhash v3 {:5.2} ns, foldhash fast {:5.2} ns, quality {:5.2} ns",
            time(&rapidhash_v3),
            time(&|key| {
                let mut hasher = fold.build_hasher();
                hasher.write(key);
                hasher.finish()
            }),
            time(&|key| {
                let mut hasher = quality.build_hasher();
                hasher.write(key);
                hasher.finish()
            }),
        );
    }
}
