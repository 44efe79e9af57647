//! Measures the stores: `cargo run --release -p spinward-store --example speed [million keys]`.
//!
//! Keys have 48 bytes. *Random* ones have nothing in common; *similar* ones come like the successors
//! of states: each differs in one place from one inserted before.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use rapidhash::v3::rapidhash_v3;
use spinward_store::{Budget, Exact, Store, Worker};

const BYTES: usize = 48;
const BATCH: usize = 16;

fn main() {
    let millions = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(5);
    let count = millions * 1_000_000;
    hashes();
    let random = random_keys(count);
    let budget = Arc::new(Budget::new(None));
    run("exact random", &Exact::new(&budget).unwrap(), &random);
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
        let started = Instant::now();
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
        let time = started.elapsed().as_nanos() as f64 / keys.len() as f64;
        println!("{name:16} {pass:18} {time:6.1} ns, {:5.2} million/s, {new} new", 1e3 / time);
    }
    let per_state = store.bytes() as f64 / store.len() as f64;
    println!("{name:16} {} states, {per_state:.2} bytes a state", store.len());
}

fn hashes() {
    for len in [16, 24, 32, 48, 64, 96, 128] {
        let data: Vec<u8> = (0..1 << 14).map(|number| mix(number) as u8).collect();
        let time = |hash: &dyn Fn(&[u8]) -> u64| {
            let started = Instant::now();
            let mut sum = 0;
            let mut count = 0;
            for _ in 0..300 {
                for key in data.windows(len).step_by(8) {
                    sum ^= hash(black_box(key));
                    count += 1;
                }
            }
            black_box(sum);
            started.elapsed().as_nanos() as f64 / f64::from(count)
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
