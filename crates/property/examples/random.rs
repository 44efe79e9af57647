//! Holds random formulas against their automata: `cargo run -p spinward-property --example random -- N
//! SEED`.

#[path = "../tests/support/mod.rs"]
mod support;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use support::{examine, random_formula};

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut argument = |default| arguments.next().unwrap_or(Ok(default));
    let count = argument(20_000).map_err(|e| e.to_string())?;
    let seed = argument(1).map_err(|e| e.to_string())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for number in 0..count {
        let nodes = 2 + u32::try_from(number % 11).expect("small");
        let formula = random_formula(&mut random, nodes, 4);
        examine(&formula, &mut random, 4)?;
    }
    println!("{count} formulas are right");
    Ok(())
}
