//! Makes random well-formed Promela models of moderate size.
//!
//! A model is a function of its seed. What SPIN calls fatal is avoided by construction: indexes stay
//! in range, divisors are not zero, a `d_step` blocks at most at its front, and nothing repeats for
//! ever inside an atomic sequence. State spaces stay small because values written in endless loops
//! are kept few; elsewhere any value may occur, so that truncation and overflow are met as well.

mod ast;
mod body;
pub mod crowd;
mod dice;
mod expr;
pub mod mutex;
pub mod network;
pub mod race;
mod scope;
pub mod shrink;
mod stmt;
pub mod temporal;
mod units;

use std::collections::BTreeSet;

pub use ast::{Class, Model};
pub use dice::Dice;
use scope::{Chan, Inline, Plan, Shape, Var};

/// The model of a seed.
pub fn model(seed: u64) -> Model {
    let mut generator = Generator::new(seed);
    let units = generator.units();
    Model { class: generator.class, features: generator.features, units }
}

/// The state of making a model.
#[derive(Debug)]
struct Generator {
    dice: Dice,
    class: Class,
    features: BTreeSet<&'static str>,
    /// Numbers given to names so far.
    names: usize,
    /// Names of mtype constants.
    mtypes: Vec<String>,
    /// Names of macros that stand for numbers.
    constants: Vec<String>,
    has_macro: bool,
    shapes: Vec<Shape>,
    /// Global variables, channels, structures for messages, and arrays.
    vars: Vec<Var>,
    chans: Vec<Chan>,
    records: Vec<String>,
    arrays: Vec<(String, usize)>,
    hidden: Option<String>,
    inlines: Vec<Inline>,
    plans: Vec<Plan>,
    /// The model claims exclusive use of channels, beside which `else` must not stand with i/o.
    exclusive: bool,
    /// A byte may still be let go round in an endless loop.
    wraps: bool,
    /// Most places where a process may wait are valid end states.
    lenient: bool,
    in_unless: bool,
    /// Here no other process can be looked at.
    no_remote: bool,
    /// Channels for whose use somebody has an exclusive right.
    claimed: Vec<String>,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let class = dice.weighted(&[
            (80, Class::Plain),
            (7, Class::Priority),
            (7, Class::Claim),
            (6, Class::Trace),
        ]);
        let exclusive = class == Class::Plain && dice.chance(8);
        let wraps = dice.chance(35);
        let lenient = dice.chance(40);
        Self {
            dice,
            class,
            features: BTreeSet::new(),
            names: 0,
            mtypes: Vec::new(),
            constants: Vec::new(),
            has_macro: false,
            shapes: Vec::new(),
            vars: Vec::new(),
            chans: Vec::new(),
            records: Vec::new(),
            arrays: Vec::new(),
            hidden: None,
            inlines: Vec::new(),
            plans: Vec::new(),
            exclusive,
            wraps,
            lenient,
            in_unless: false,
            no_remote: false,
            claimed: Vec::new(),
        }
    }

    /// Notes that the model has this feature.
    fn feature(&mut self, name: &'static str) {
        self.features.insert(name);
    }

    /// A name not used before.
    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }
}

/// What holds of models whatever they are made for.
#[cfg(test)]
mod testing {
    use std::path::Path;

    use super::race::Race;

    pub fn are_well_formed(model: fn(u64) -> Race) {
        for seed in 0..1000 {
            let Race { text, invariant } = model(seed);
            let conditions = invariant.into_iter().collect();
            let options = spinward_promela::Options { conditions, ..Default::default() };
            let loaded = spinward_promela::load_text(Path::new("model.pml"), text, &options);
            assert!(!loaded.has_errors(), "seed {seed}: {:?}", loaded.diagnostics);
        }
    }

    /// Each of some words stands in a good many of them, and many have an invariant.
    pub fn have(model: fn(u64) -> Race, words: &[&str]) {
        let models: Vec<Race> = (0..1000).map(model).collect();
        for word in words {
            let count = models.iter().filter(|model| model.text.contains(word)).count();
            assert!(count >= 20, "{word}: in {count} models");
        }
        assert!(models.iter().filter(|model| model.invariant.is_some()).count() >= 100);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_model() {
        for seed in 0..200 {
            assert_eq!(model(seed).to_string(), model(seed).to_string());
        }
    }

    /// Seeds are written down to come back to: whoever changes the generator changes what they mean,
    /// and should know it.
    #[test]
    fn seeds_mean_what_they_meant() {
        let text: String = (0..50).map(|seed| model(seed).to_string()).collect();
        let fingerprint = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        assert_eq!(fingerprint, 928637278216025463);
    }

    #[test]
    fn seeds_give_different_models() {
        assert_ne!(model(1).to_string(), model(2).to_string());
    }
}
