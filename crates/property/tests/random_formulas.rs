//! All forms of the automata of random formulas against an evaluator that shares nothing with them.

mod support;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_property::{Formula, TooLarge, expand, holds, simplify_formula, translate};
use support::{examine, random_formula, random_lasso};

/// Automata of a formula and its negation share no word, each run is accepted by exactly one of them, and
/// it is the right one: as expanded, simplified, degeneralized on edges and states, printed and read.
#[test]
fn automata_are_right() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20);
    for number in 0..20_000 {
        let formula = random_formula(&mut random, 2 + number % 11, 4);
        examine(&formula, &mut random, 4).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn simpler_formulas_mean_the_same() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
    for number in 0..10_000 {
        let formula = random_formula(&mut random, 2 + number % 20, 3);
        let simple = simplify_formula(&formula);
        for _ in 0..10 {
            let lasso = random_lasso(&mut random, 3);
            let truth = holds(&formula, &lasso);
            assert_eq!(holds(&simple, &lasso), truth, "{formula:?} as {simple:?} on {lasso:?}");
        }
        assert_eq!(simplify_formula(&simple), simple, "{formula:?} is simplified in two steps");
    }
}

/// Formulas that would take too long are refused, and not after minutes.
#[test]
fn large_formulas_are_refused() {
    let fair =
        |count: u32| Formula::and((0..count).map(|p| Formula::atom(p).eventually().always()));
    let automaton = translate(&fair(8)).expect("8 conditions are not many");
    assert_eq!((automaton.states.len(), automaton.sets), (1, 8));
    assert_eq!(translate(&fair(40)), Err(TooLarge::Edges));
    let untils = (0..63).map(|p| Formula::atom(p).until(&Formula::atom(p + 1)));
    let more = (0..9).map(|p| Formula::atom(p + 2).until(&Formula::atom(p)));
    assert_eq!(expand(&Formula::or(untils.chain(more))), Err(TooLarge::Sets));
    // Many cubes, and a negation with exponentially many.
    let pairs = (0..20).map(|i| Formula::and([Formula::atom(2 * i), Formula::atom(2 * i + 1)]));
    assert_eq!(translate(&Formula::or(pairs).eventually()).map(|a| a.states.len()), Ok(2));
    let odd = (1..8).fold(Formula::atom(0), |odd, p| odd.equivalent(&Formula::atom(p)).not());
    assert_eq!(translate(&odd.always()).map(|a| a.states.len()), Ok(1));
    assert_eq!(translate(&odd.eventually()).map(|a| a.states.len()), Ok(2));
}
