//! Never claims of formulas of the literature: SPIN reads them, and has none with fewer states.

mod support;

use std::process::Command;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_property::print::never_claim;
use spinward_property::{buchi, translate, translate_to_buchi};
use support::collections::{DWYER, ETESSAMI_HOLZMANN, SOMENZI_BLOEM, SPIN};

/// All formulas, and their negations.
fn all() -> impl Iterator<Item = [String; 2]> {
    let all = DWYER.into_iter().chain(ETESSAMI_HOLZMANN).chain(SOMENZI_BLOEM);
    all.map(|text| [text.to_owned(), format!("!({text})")])
}

#[test]
fn claims_are_small() {
    let (mut ours, mut theirs, mut in_all) = (0, 0, 0);
    for (texts, sizes) in all().zip(SPIN) {
        for (text, spin) in texts.into_iter().zip(sizes) {
            let formula = support::parse(&text);
            let size = translate_to_buchi(&formula).expect("it is small").states.len();
            assert!(size <= buchi(&translate(&formula).expect("it is small")).states.len());
            if spin > 0 {
                assert!(size <= spin, "{text}: {size} states, SPIN has {spin}");
                ours += size;
                theirs += spin;
            }
            in_all += size;
        }
    }
    assert_eq!(theirs, 658);
    assert!(2 * ours <= theirs, "{ours} states, SPIN has {theirs}");
    // With those that SPIN has no claim for: what it was when it was last improved.
    assert!(in_all <= 681, "{in_all} states in all");
}

#[test]
fn automata_are_right() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(94);
    for [text, _] in all() {
        let formula = support::parse(&text);
        for _ in 0..3 {
            support::examine(&formula, &mut random, 7).unwrap_or_else(|wrong| panic!("{wrong}"));
        }
    }
}

/// SPIN reads our claims and our formulas. Where it is not installed there is nothing to test.
#[test]
fn spin_reads_claims() {
    if Command::new("spin").arg("-V").output().is_err() {
        return;
    }
    let names: Vec<String> = (0..7).map(|atom| format!("v > {atom}")).collect();
    let directory = std::env::temp_dir().join(format!("spinward-claims-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a folder for the test");
    let run = |name: &str, model: &str| {
        std::fs::write(directory.join(name), model).expect("a file for the test");
        let output = Command::new("spin").args(["-a", name]).current_dir(&directory).output();
        let output = output.expect("SPIN runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !said.contains("rror"), "{said}\n{model}");
    };
    let constants = ["true", "false"].map(str::to_owned);
    for (texts, sizes) in all().zip(SPIN).chain([(constants, [1, 1])]) {
        for (text, [_, of_negation]) in texts.iter().zip([sizes, [sizes[1], sizes[0]]]) {
            let formula = support::parse(text);
            let automaton = translate_to_buchi(&formula).expect("it is small");
            let shown = formula.display(&names).to_string();
            let claim = never_claim(&automaton, &names, &shown);
            run("claim.pml", &format!("byte v;\ninit {{ v++ }}\n{claim}"));
            // SPIN makes a claim of the negation, which is not always a matter of moments.
            if (1..10).contains(&of_negation) && shown.len() < 100 {
                run("formula.pml", &format!("byte v;\ninit {{ v++ }}\nltl f {{ {shown} }}\n"));
            }
        }
    }
    std::fs::remove_dir_all(&directory).expect("the folder goes");
}
