//! Lossy stores lose about as many states as they say, on models whose states SPIN has counted.

use std::path::Path;

use spinward::{Check, Model, Optimize, Por, Property, ReasonCode, Search, Store, Verdict};
use spinward_promela::Options;

/// Models without errors, each with parameters.
const MODELS: [(&str, &[(&str, &str)]); 3] = [
    ("szymanski.pml", &[]),
    ("byzantine_generals.pml", &[]),
    ("bakery.pml", &[("N", "3"), ("ROUNDS", "1")]),
];

fn check<'a>(file: &str, defines: &[(&str, &str)]) -> Check<'a> {
    let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let options = Options { defines: defines.collect(), ..Options::default() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let model = Model::load(&folder.join(file), &options).expect("a correct text");
    let check = Check::new(model).por(Por::Off).optimize(Optimize::None);
    check.property(Property::Safety).search(Search::Dfs).errors(0).memory(2 << 30)
}

#[test]
fn a_tenth_of_the_memory_loses_as_many_as_expected() {
    for (file, defines) in MODELS {
        let exact = check(file, defines).run().unwrap();
        assert_eq!(exact.verdict, Verdict::Verified);
        let states = exact.statistics.states;
        assert!(states > 100_000);
        let bytes = exact.statistics.bytes_per_state * states as f64;
        let bits = (bytes / 10.0 * 8.0).log2() as u32;
        for hashes in [2, 3] {
            let lossy = check(file, defines).store(Store::Bitstate).bits(bits).hashes(hashes);
            let report = lossy.run().unwrap();
            assert_eq!(report.verdict, Verdict::Incomplete);
            assert_eq!(report.reasons[0].code, ReasonCode::Lossy);
            let lost = (states - report.statistics.states) as f64;
            let expected = report.statistics.expected_omissions;
            println!("{file}, {hashes} hashes: {lost} lost, {expected:.0} expected");
            // With fewer, chance would decide.
            assert!(hashes == 3 || expected > 20.0, "{file}: {expected}");
            if expected > 20.0 {
                let ratio = lost / expected;
                assert!((1.0 / 3.0..3.0).contains(&ratio), "{file}: {lost} for {expected}");
            }
        }
    }
}

#[test]
fn signatures_of_64_bits_lose_nothing() {
    for (file, defines) in MODELS {
        let exact = check(file, defines).run().unwrap().statistics;
        let compact = check(file, defines).store(Store::Compact).run().unwrap().statistics;
        assert_eq!(compact.states, exact.states);
        assert_eq!(compact.transitions, exact.transitions);
        assert_eq!(compact.depth, exact.depth);
        assert!(compact.omission_probability > 0.0 && compact.omission_probability < 1e-9);
    }
}
