//! States that can be made one without new words, found by trying.
//!
//! Whichever states of an automaton are made one, it accepts no fewer words than before. Whether it accepts
//! more is asked of an automaton for all other words: the product with it must stay empty. That finds
//! what simulation does not, as that one state is enough for `<>[]p || []<>q` to wait in. The cost is a
//! product for each pair of states, so it is done with small automata only.

use crate::automaton::{Automaton, Edge};
use crate::product::{accepted_word, intersection};

/// More pairs of a state here and there than that are not looked at.
const MAX_PAIRS: usize = 400;

/// Makes states one as long as no word of `negation` is accepted, `simplify` in between. `by_state`: marks
/// are those of states, and stay so.
pub(crate) fn merge(
    automaton: &mut Automaton,
    negation: &Automaton,
    by_state: bool,
    simplify: impl Fn(&mut Automaton),
) {
    'again: loop {
        let count = automaton.states.len();
        if count * negation.states.len() > MAX_PAIRS {
            return;
        }
        for gone in 1..count {
            for kept in 0..gone {
                let mut merged = merged(automaton, kept, gone, by_state);
                let common = intersection(&merged, negation);
                if common.is_ok_and(|common| accepted_word(&common).is_none()) {
                    simplify(&mut merged);
                    if merged.states.len() < count {
                        *automaton = merged;
                        continue 'again;
                    }
                }
            }
        }
        return;
    }
}

/// With two states made one, which is the first of them.
fn merged(automaton: &Automaton, kept: usize, gone: usize, by_state: bool) -> Automaton {
    let mut result = automaton.clone();
    let edges = std::mem::take(&mut result.states[gone]);
    result.states[kept].extend(edges);
    if by_state {
        let marks = result.states[kept].iter().fold(0, |marks, edge| marks | edge.marks);
        result.states[kept].iter_mut().for_each(|edge| edge.marks = marks);
    }
    let number = |state: usize| u32::try_from(state).expect("few states");
    let redirect = |edge: &mut Edge| {
        if edge.to == number(gone) {
            edge.to = number(kept);
        }
    };
    result.states.iter_mut().flatten().for_each(redirect);
    if result.initial == number(gone) {
        result.initial = number(kept);
    }
    result.renumber();
    result
}
