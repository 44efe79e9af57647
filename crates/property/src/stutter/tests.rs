//! Never claims as people write them, and what is refused.

use super::{
    MAX_COMPARED, MAX_FOUND, MAX_LETTERS, MAX_STATES, Work, decide, is_stutter_invariant, least,
    letters,
};
use crate::automaton::{Automaton, Buchi, Cube, Edge, Label, State};

fn p() -> Label {
    Label::literal(0, true)
}

fn q() -> Label {
    Label::literal(1, true)
}

/// A never claim: of each state, whether it accepts and its edges. The first is the initial one.
fn claim<const N: usize>(states: [(bool, Vec<(Label, u32)>); N]) -> Automaton {
    let state = |(accepting, edges)| State { accepting, edges };
    let states = states.into_iter().map(state).collect();
    Buchi { atoms: 3, initial: 0, states }.automaton()
}

/// As `spin -f` writes them, with states that are not needed.
#[test]
fn claims_of_formulas() {
    let always = Label::truth;
    let again_and_again = claim([
        (false, vec![(p(), 1), (always(), 0)]), // T0_init
        (true, vec![(always(), 0)]),            // accept_S9
    ]);
    let from_some_time_on = claim([
        (false, vec![(p(), 1), (always(), 0)]), // T0_init
        (true, vec![(p(), 1)]),                 // accept_S4
    ]);
    let until = claim([
        (false, vec![(q(), 1), (p(), 0)]), // T0_init
        (true, vec![(always(), 1)]),       // accept_all
    ]);
    let never_answered = claim([
        (false, vec![(p().and(&q().not()), 1), (always(), 0)]), // T0_init
        (true, vec![(q().not(), 1)]),                           // accept_S4
    ]);
    let not_until = claim([
        (true, vec![(q().not(), 0), (p().not().and(&q().not()), 1)]), // accept_init
        (true, vec![(always(), 1)]),                                  // accept_all
    ]);
    let answered = claim([
        (false, vec![(p().not().or(&q()), 2), (always(), 1)]), // T0_init
        (false, vec![(q(), 2), (always(), 1)]),                // T0_S27
        (true, vec![(p().not().or(&q()), 2), (always(), 1)]),  // accept_S20
    ]);
    let claims = [again_and_again, from_some_time_on, until, never_answered, not_until, answered];
    for claim in claims {
        assert_eq!(decide(&claim), Some(true), "{claim:?}");
    }
}

#[test]
fn claims_that_count() {
    let alternates = claim([(true, vec![(p(), 1)]), (true, vec![(p().not(), 0)])]);
    let every_other = claim([(true, vec![(p(), 1)]), (true, vec![(Label::truth(), 0)])]);
    let twice_at_once = claim([
        (false, vec![(p(), 1), (Label::truth(), 0)]),
        (false, vec![(p(), 2)]),
        (true, vec![(Label::truth(), 2)]),
    ]);
    let not_at_once = claim([(true, vec![(p().not(), 0), (p(), 1)]), (true, vec![(p().not(), 0)])]);
    for claim in [alternates, every_other, twice_at_once, not_at_once] {
        assert_eq!(decide(&claim), Some(false), "{claim:?}");
    }
}

/// Words that differ only in how often p is repeated are accepted by different runs, so that it cannot
/// be seen from single states.
#[test]
fn even_or_odd_is_either() {
    let either = |first: Vec<(Label, u32)>| {
        claim([
            (false, first),
            (false, vec![(p(), 2), (p().not(), 5)]), // after an odd number
            (false, vec![(p(), 1)]),
            (false, vec![(p(), 4)]),
            (false, vec![(p(), 3), (p().not(), 5)]), // after an even number
            (true, vec![(p().not(), 5)]),
        ])
    };
    assert_eq!(decide(&either(vec![(p(), 1), (p(), 3)])), Some(true));
    assert_eq!(decide(&either(vec![(p(), 1)])), Some(false));
    assert_eq!(decide(&either(vec![(p(), 3)])), Some(false));
}

/// The same, once for p and once for q, which lead to the same state if they come once: repetitions of one
/// must not be taken for those of the other.
#[test]
fn letters_are_repeated_each_for_itself() {
    let (p, q) = (p().and(&q().not()), q().and(&p().not()));
    let neither = || p.not().and(&q.not());
    let [twice, thrice] = [3, 5];
    let mut states =
        vec![(false, Vec::new()), (false, vec![(neither(), 2)]), (true, vec![(neither(), 2)])];
    for (letter, first) in [(&p, 0), (&q, 5)] {
        let step = |to: u32| (letter.clone(), first + to);
        states[0].1.extend([(letter.clone(), 1), step(twice), step(thrice)]);
        states.push((false, vec![step(twice + 1)]));
        states.push((false, vec![step(twice), (neither(), 2)]));
        states.push((false, vec![step(thrice + 1)]));
        states.push((false, vec![step(thrice + 2)]));
        states.push((false, vec![step(thrice + 1), (neither(), 2)]));
    }
    let states: [_; 13] = states.try_into().expect("three, and five for each");
    assert_eq!(decide(&claim(states)), Some(true));
}

/// A letter can be read twice, but then without a mark.
#[test]
fn marks_are_part_of_it() {
    let edge = |to, marks, label| Edge { to, marks, label };
    let once = |marks| Automaton {
        atoms: 1,
        sets: 1,
        initial: 0,
        states: vec![
            vec![edge(1, 1, p()), edge(2, marks, p())],
            vec![edge(0, 0, p().not()), edge(1, 0, p().not())],
            vec![edge(1, 0, p()), edge(2, 0, p())],
        ],
    };
    assert_eq!(decide(&once(0)), Some(false));
    assert_eq!(decide(&once(1)), Some(true));
}

/// Letters are the classes that labels tell apart, not the valuations.
#[test]
fn atoms_may_be_many() {
    let all = Label::of([Cube { positive: (1 << 40) - 1, negative: 0 }]);
    let edge = |to, marks, label| Edge { to, marks, label };
    let until = vec![
        vec![edge(0, 0, all.clone()), edge(1, 0, Label::literal(40, true))],
        vec![edge(1, 1, Label::truth())],
    ];
    let automaton = Automaton { atoms: u64::MAX, sets: 1, initial: 0, states: until };
    assert_eq!(letters(&automaton).map(|letters| letters.len()), Some(4));
    assert_eq!(decide(&automaton), Some(true));
}

/// What is too large is said not to be invariant.
#[test]
fn what_is_too_much_is_refused() {
    // p for so many steps: all states are needed.
    let chain = |length: usize| {
        let edge = |state: usize| Edge {
            to: u32::try_from(length.min(state + 1)).expect("few states"),
            marks: 1,
            label: if state < length { p() } else { Label::truth() },
        };
        let states = (0..=length).map(|state| vec![edge(state)]).collect();
        Automaton { atoms: 1, sets: 1, initial: 0, states }
    };
    assert_eq!(decide(&chain(MAX_STATES - 1)), Some(false));
    assert_eq!(decide(&chain(MAX_STATES)), None);
    assert_eq!(decide(&chain(1000)), None);
    // Each atom again and again, in one state.
    let fair = |count: u32| {
        let edge = |atom| Edge { to: 0, marks: 1_u64 << atom, label: Label::literal(atom, true) };
        let states = vec![(0..count).map(edge).collect()];
        Automaton { atoms: (1_u64 << count) - 1, sets: count, initial: 0, states }
    };
    assert_eq!(letters(&fair(6)).map(|letters| letters.len()), Some(MAX_LETTERS));
    assert_eq!(letters(&fair(7)), None);
    assert_eq!(letters(&fair(60)), None);
    assert_eq!(decide(&fair(7)), None);
    assert!(!is_stutter_invariant(&fair(7)));
}

/// Each search ends, whatever it finds.
#[test]
fn work_is_bounded() {
    let walk = |length: usize| {
        let after = |state: usize, (): &()| vec![((state + 1) % length, ())];
        let mut work = Work { found: 0, compared: 0 };
        least(length, vec![(0, ())], |(), ()| true, after, &mut work).map(|found| found.len())
    };
    assert_eq!(walk(MAX_FOUND), Some(MAX_FOUND));
    assert_eq!(walk(MAX_FOUND + 1), None);
    // None of these is below another, so that all are compared.
    let count = |most: usize| {
        let after = |_, number: &usize| vec![(0, (number + 1) % most)];
        let mut work = Work { found: 0, compared: 0 };
        least(1, vec![(0, 0)], |a, b| a == b, after, &mut work).map(|found| found[0].len())
    };
    let most = (2 * MAX_COMPARED).isqrt();
    assert_eq!(count(most - 10), Some(most - 10));
    assert_eq!(count(most + 10), None);
}
