//! What is done with automata keeps their words: on random automata, which are wilder than those of
//! formulas.

mod support;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_property::print::{hoa, hoa_by_state};
use spinward_property::{
    Automaton, Class, Components, Cube, Edge, Label, accepted_word, accepts, buchi, degeneralize,
    intersection, simplify_automaton,
};
use support::random_lasso;

const ATOMS: u32 = 2;

fn random_automaton(random: &mut impl Rng) -> Automaton {
    let mut below = |bound: u32| random.next_u32() % bound;
    let count = 1 + below(6);
    let sets = below(4);
    let states = (0..count)
        .map(|_| {
            let edges = below(4);
            (0..edges)
                .map(|_| {
                    let positive = u64::from(below(1 << ATOMS));
                    let negative = u64::from(below(1 << ATOMS)) & !positive;
                    // Most marks are rare, some frequent.
                    let marks = u64::from(below(1 << sets) & (below(1 << sets) | (below(2) * 7)));
                    Edge {
                        to: below(count),
                        marks,
                        label: Label::of([Cube { positive, negative }]),
                    }
                })
                .collect()
        })
        .collect();
    let mut automaton = Automaton { atoms: 3, sets, initial: 0, states };
    automaton.merge_edges();
    automaton
}

#[test]
fn words_stay() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut accepted = 0;
    for _ in 0..10_000 {
        let automaton = random_automaton(&mut random);
        let mut simple = automaton.clone();
        simplify_automaton(&mut simple);
        assert!(simple.states.len() <= automaton.states.len());
        let one_set = degeneralize(&automaton);
        assert_eq!(one_set.sets, 1);
        let by_state = buchi(&automaton);
        let texts = ["a \"b\" \\".to_owned(), "p1".to_owned()];
        let again = |text: &str| {
            let (read, atoms) = spinward_property::hoa::read(text).expect("what we print");
            assert_eq!(atoms, texts);
            read
        };
        let forms = [
            again(&hoa(&automaton, &texts, "n")),
            again(&hoa_by_state(&by_state, &texts, "n")),
            simple,
            one_set,
            by_state.automaton(),
        ];
        let word = accepted_word(&automaton);
        if let Some(word) = &word {
            assert!(accepts(&automaton, word), "{word:?} in {automaton:?}");
        }
        for lasso in (0..10).map(|_| random_lasso(&mut random, ATOMS)).chain(word.clone()) {
            let expected = accepts(&automaton, &lasso);
            accepted += u32::from(expected);
            assert!(word.is_some() || !expected, "no word found, but {lasso:?} of {automaton:?}");
            for (form, other) in forms.iter().enumerate() {
                assert_eq!(accepts(other, &lasso), expected, "{form}: {lasso:?} of {automaton:?}");
            }
        }
    }
    assert!(accepted > 10_000, "{accepted}");
}

#[test]
fn products_have_the_words_of_both() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    for _ in 0..3_000 {
        let (a, b) = (random_automaton(&mut random), random_automaton(&mut random));
        let product = intersection(&a, &b).expect("few sets");
        for _ in 0..10 {
            let lasso = random_lasso(&mut random, ATOMS);
            assert_eq!(accepts(&product, &lasso), accepts(&a, &lasso) && accepts(&b, &lasso));
        }
    }
}

/// All elementary cycles: the states and marks of each.
fn cycles(automaton: &Automaton) -> Vec<(Vec<u32>, u64)> {
    let mut found = Vec::new();
    let count = u32::try_from(automaton.states.len()).expect("few");
    let mut open: Vec<(Vec<u32>, u64)> = (0..count).map(|state| (vec![state], 0)).collect();
    while let Some((path, marks)) = open.pop() {
        for edge in &automaton.states[path[path.len() - 1] as usize] {
            if edge.to == path[0] {
                found.push((path.clone(), marks | edge.marks));
            } else if !path.contains(&edge.to) {
                open.push(([&path[..], &[edge.to]].concat(), marks | edge.marks));
            }
        }
    }
    found
}

#[test]
fn components_are_what_their_cycles_are() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(10);
    let mut seen = [0; 3];
    for _ in 0..3_000 {
        let automaton = random_automaton(&mut random);
        let components = Components::of(&automaton);
        let cycles = cycles(&automaton);
        let count = u32::try_from(automaton.states.len()).expect("few");
        for state in 0..count {
            let same =
                |other: &u32| components.of[*other as usize] == components.of[state as usize];
            // Those that are on a closed walk through the state: cycles that meet, joined.
            let mut joined = vec![state];
            while let Some((path, _)) = cycles.iter().find(|(path, _)| {
                path.iter().any(|s| joined.contains(s)) && !path.iter().all(|s| joined.contains(s))
            }) {
                joined.extend(path.iter().filter(|s| !joined.contains(s)).collect::<Vec<_>>());
            }
            joined.sort_unstable();
            joined.dedup();
            assert_eq!((0..count).filter(same).collect::<Vec<_>>(), joined, "{automaton:?}");
            let inside = || cycles.iter().filter(|(path, _)| joined.contains(&path[0]));
            let all = inside().fold(0, |all, (_, marks)| all | marks);
            let class = if inside().count() == 0 || all != automaton.all_marks() {
                Class::Rejecting
            } else if inside().all(|(_, marks)| *marks == automaton.all_marks()) {
                Class::Accepting
            } else {
                Class::Partial
            };
            assert_eq!(components.class(state), class, "{state} of {automaton:?}");
            seen[class as usize] += 1;
            for edge in &automaton.states[state as usize] {
                assert!(components.of[edge.to as usize] <= components.of[state as usize]);
            }
            if components.universal[state as usize] {
                let from = Automaton { initial: state, ..automaton.clone() };
                for _ in 0..5 {
                    assert!(accepts(&from, &random_lasso(&mut random, ATOMS)));
                }
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
}
