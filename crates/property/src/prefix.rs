//! Is a formula false of a run, whatever comes after its first states?
//!
//! The automaton of the formula reads the states that are known. If it accepts nothing more from any of the places
//! it may have come to, no way to go on makes the formula true (a *bad prefix*: Kupferman and Vardi, *Model checking
//! of safety properties*, 2001).

use std::collections::BTreeSet;

use crate::automaton::Automaton;
use crate::formula::Formula;
use crate::product::accepted_word;
use crate::translate::{TooLarge, translate};

/// Whether the formula is false of all runs that start with these valuations of its atoms.
///
/// # Errors
/// If its automaton is too large.
pub fn is_false_after(formula: &Formula, word: &[u64]) -> Result<bool, TooLarge> {
    let automaton = translate(formula)?;
    let mut places = BTreeSet::from([automaton.initial]);
    for &valuation in word {
        let edges = places.iter().flat_map(|&place| &automaton.states[place as usize]);
        places = edges.filter(|edge| edge.label.holds(valuation)).map(|edge| edge.to).collect();
    }
    let goes_on = |place| accepted_word(&Automaton { initial: place, ..automaton.clone() });
    Ok(!places.into_iter().any(|place| goes_on(place).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_still_come_counts() {
        let (p, q) = (Formula::atom(0), Formula::atom(1));
        let is_false = |formula: &Formula, word: &[u64]| is_false_after(formula, word).unwrap();
        assert!(!is_false(&p.always(), &[]));
        assert!(!is_false(&p.always(), &[1, 1]));
        assert!(is_false(&p.always(), &[1, 0, 1]));
        assert!(!is_false(&p.eventually(), &[0, 0]));
        assert!(!is_false(&p.until(&q), &[1, 1]));
        assert!(is_false(&p.until(&q), &[1, 0]));
        assert!(!is_false(&p.until(&q), &[1, 2, 0]));
        assert!(is_false(&p.next(), &[1, 0]));
        assert!(is_false(&Formula::falsehood(), &[]));
        // It asks for what cannot be, but only later.
        let never = Formula::and([p.eventually(), p.not().always()]);
        assert!(is_false(&never, &[0]));
    }
}
