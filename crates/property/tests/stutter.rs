//! Whether automata can tell how often a letter is repeated, against twins that find it out in other ways.

mod support;

use std::collections::HashMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_property::{
    Automaton, Cube, Edge, Formula, Label, Lasso, accepted_word, accepts, intersection,
    is_stutter_invariant, translate, translate_to_buchi,
};
use support::collections::{DWYER, ETESSAMI_HOLZMANN, SOMENZI_BLOEM};
use support::{parse, random_formula};

/// A random formula that has `X`, or has none.
fn formula_with(random: &mut impl Rng, next: bool, nodes: u32, atoms: u32) -> Formula {
    loop {
        let formula = random_formula(random, nodes, atoms);
        if formula.stutter_invariant() != next {
            return formula;
        }
    }
}

/// Formulas without `X` cannot tell. None of these automata is too much.
#[test]
fn without_next_all_are_invariant() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(30);
    for number in 0..500 {
        let formula = formula_with(&mut random, false, 3 + number % 10, 3);
        let automaton = translate(&formula).expect("a small formula");
        assert!(is_stutter_invariant(&automaton), "{formula:?}");
        let by_state = translate_to_buchi(&formula).expect("a small formula").automaton();
        assert!(is_stutter_invariant(&by_state), "{formula:?} by state");
    }
}

/// So it is with formulas that people write, of up to six atoms.
#[test]
fn no_formula_of_the_literature_is_too_much() {
    let texts = || DWYER.iter().chain(&ETESSAMI_HOLZMANN).chain(&SOMENZI_BLOEM);
    let formulas = texts().flat_map(|text| [parse(text), parse(text).not()]);
    let without: Vec<Formula> = formulas.filter(Formula::stutter_invariant).collect();
    let refused = without.iter().filter(|formula| {
        let automaton = translate(formula).expect("not too large");
        !is_stutter_invariant(&automaton)
    });
    assert_eq!((without.len(), refused.count()), (110, 0));
}

/// The automaton of words with letters repeated, and that of words with repetitions left out, written
/// down as they are defined, valuation by valuation; invariant if they share no word with the negation.
fn invariant_by_negation(formula: &Formula, atoms: u32) -> bool {
    let automaton = translate(formula).expect("a small formula");
    let negation = translate(&formula.not()).expect("a small formula");
    let exactly = |valuation: u32| {
        let positive = u64::from(valuation);
        Label::of([Cube { positive, negative: !positive & ((1 << atoms) - 1) }])
    };
    let valuations = 1_u32 << atoms;
    let count = u32::try_from(automaton.states.len()).expect("few states");
    // State q after valuation v is 1 + q * valuations + v; 0 is the initial state, after none.
    let mut repeated = vec![Vec::new()];
    let after = |state: u32, valuation: u32| 1 + state * valuations + valuation;
    let ways = |state: u32, valuation: u32| {
        let edges = automaton.states[state as usize].iter();
        edges.filter(move |edge| edge.label.holds(u64::from(valuation)))
    };
    let all = |state: u32| {
        (0..valuations).flat_map(move |valuation| {
            ways(state, valuation).map(move |edge| Edge {
                to: after(edge.to, valuation),
                marks: edge.marks,
                label: exactly(valuation),
            })
        })
    };
    repeated[0].extend(all(automaton.initial));
    for state in 0..count {
        for valuation in 0..valuations {
            let stay = Edge { to: after(state, valuation), marks: 0, label: exactly(valuation) };
            repeated.push(all(state).chain([stay]).collect());
        }
    }
    let mut shorter = automaton.states.clone();
    for state in 0..count {
        for valuation in 0..valuations {
            for first in ways(state, valuation) {
                for second in ways(first.to, valuation) {
                    shorter[state as usize].push(Edge {
                        to: second.to,
                        marks: first.marks | second.marks,
                        label: exactly(valuation),
                    });
                }
            }
        }
    }
    [
        Automaton { states: repeated, initial: 0, ..automaton.clone() },
        Automaton { states: shorter, ..automaton.clone() },
    ]
    .iter()
    .all(|larger| accepted_word(&intersection(larger, &negation).expect("few sets")).is_none())
}

#[test]
fn answers_are_those_of_the_negation() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(31);
    let mut invariant = 0;
    for number in 0..1000 {
        let atoms = 1 + number % 2;
        let formula = formula_with(&mut random, true, 3 + number % 9, atoms);
        let expected = invariant_by_negation(&formula, atoms);
        invariant += u32::from(expected);
        let automaton = translate(&formula).expect("a small formula");
        assert_eq!(is_stutter_invariant(&automaton), expected, "{formula:?}");
        let by_state = translate_to_buchi(&formula).expect("a small formula").automaton();
        assert_eq!(is_stutter_invariant(&by_state), expected, "{formula:?} by state");
    }
    assert!((200..800).contains(&invariant), "{invariant}");
}

/// Formulas of the literature that have `X`, though some could do without.
#[test]
fn answers_are_those_of_the_negation_for_the_literature() {
    let texts = DWYER.iter().chain(&ETESSAMI_HOLZMANN).chain(&SOMENZI_BLOEM);
    let formulas = texts.map(|text| parse(text)).filter(|formula| !formula.stutter_invariant());
    let few = formulas.filter(|formula| formula.atoms() < 1 << 4);
    let mut counts = [0; 2];
    for formula in few {
        let expected = invariant_by_negation(&formula, 4);
        counts[usize::from(expected)] += 1;
        let automaton = translate(&formula).expect("not too large");
        assert_eq!(is_stutter_invariant(&automaton), expected, "{formula:?}");
    }
    assert_eq!(counts, [6, 7]);
}

/// All short runs over one atom, with those that differ only in repetitions together.
fn short_runs() -> Vec<Vec<Lasso>> {
    let words = |length: u32| {
        (0..1_u64 << length)
            .map(move |bits| (0..length).map(|i| bits >> i & 1).collect::<Vec<u64>>())
    };
    let mut groups: HashMap<Lasso, Vec<Lasso>> = HashMap::new();
    for prefix in (0..=3).flat_map(words) {
        for cycle in (1..=5).flat_map(words) {
            let lasso = Lasso { prefix: prefix.clone(), cycle };
            let (mut prefix, mut cycle): (Vec<u64>, Vec<u64>) =
                (lasso.prefix.clone(), lasso.cycle.clone());
            prefix.dedup();
            cycle.dedup();
            // Once more round, so that a repetition across the end of the cycle is seen.
            if cycle.len() > 1 && cycle.first() == cycle.last() {
                prefix.push(cycle[0]);
                prefix.dedup();
                cycle.remove(0);
            }
            if cycle.len() > 1 && prefix.last() == cycle.first() {
                prefix.pop();
            }
            let canonical = Lasso { prefix, cycle }.shortest();
            groups.entry(canonical).or_default().push(lasso);
        }
    }
    groups.into_values().collect()
}

/// With few edges that can always be taken, and marks that are rare: else most accept every word.
fn random_automaton(random: &mut impl Rng) -> Automaton {
    let mut below = |bound: u32| random.next_u32() % bound;
    let count = 2 + below(3);
    let sets = below(3);
    let mut edge = || {
        let label = match below(8) {
            0 => Label::truth(),
            sign => Label::literal(0, sign % 2 == 1),
        };
        let marks = u64::from(below(1 << sets) & below(1 << sets));
        Edge { to: below(count), marks, label }
    };
    let states = (0..count).map(|_| (0..3).map(|_| edge()).collect()).collect();
    let mut automaton = Automaton { atoms: 1, sets, initial: 0, states };
    automaton.merge_edges();
    automaton
}

/// Random automata, which are wilder than those of formulas, on all short runs.
#[test]
fn answers_are_those_of_short_runs() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(32);
    let groups = short_runs();
    let mut invariant = 0;
    for _ in 0..1000 {
        let automaton = random_automaton(&mut random);
        let alike = |group: &Vec<Lasso>| {
            let first = accepts(&automaton, &group[0]);
            group[1..].iter().all(|lasso| accepts(&automaton, lasso) == first)
        };
        let expected = groups.iter().all(alike);
        invariant += u32::from(expected);
        assert_eq!(is_stutter_invariant(&automaton), expected, "{automaton:?}");
    }
    assert!((200..800).contains(&invariant), "{invariant}");
}
