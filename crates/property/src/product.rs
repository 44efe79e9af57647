//! Words that two automata accept, and words that one accepts.
//!
//! The product has the sets of both. A word is found as Couvreur, Duret-Lutz and Poitrenaud do
//! (*On-the-fly Emptiness Checks for Generalized Büchi Automata*, SPIN 2005, section 5): breadth-first to
//! the nearest accepting component, in it breadth-first from one missing mark to the next, and back to
//! where the cycle began.

use std::collections::{HashMap, VecDeque};

use crate::automaton::{Automaton, Edge, MAX_SETS};
use crate::components::{Class, Components};
use crate::evaluate::Lasso;
use crate::formula::Formula;
use crate::translate::{TooLarge, translate};

/// The words that both accept.
///
/// # Errors
/// If there would be too many acceptance sets.
pub fn intersection(a: &Automaton, b: &Automaton) -> Result<Automaton, TooLarge> {
    let sets = a.sets + b.sets;
    if sets > MAX_SETS {
        return Err(TooLarge::Sets);
    }
    let mut numbers = HashMap::from([((a.initial, b.initial), 0)]);
    let mut pairs = vec![(a.initial, b.initial)];
    let mut states = Vec::new();
    while let Some(&(left, right)) = pairs.get(states.len()) {
        let mut edges = Vec::new();
        for one in &a.states[left as usize] {
            for other in &b.states[right as usize] {
                let label = one.label.and(&other.label);
                if label.is_false() {
                    continue;
                }
                let pair = (one.to, other.to);
                let fresh = u32::try_from(pairs.len()).map_err(|_| TooLarge::States)?;
                let to = *numbers.entry(pair).or_insert(fresh);
                if to == fresh {
                    pairs.push(pair);
                }
                let shifted = other.marks.checked_shl(a.sets).unwrap_or(0);
                edges.push(Edge { to, marks: one.marks | shifted, label });
            }
        }
        states.push(edges);
    }
    let mut product = Automaton { atoms: a.atoms | b.atoms, sets, initial: 0, states };
    product.merge_edges();
    Ok(product)
}

/// A word that the automaton accepts, if there is one. Atoms that do not matter are false.
pub fn accepted_word(automaton: &Automaton) -> Option<Lasso> {
    let components = Components::of(automaton);
    let accepts = |state: u32| components.class(state) != Class::Rejecting;
    let (prefix, start) =
        walk(automaton, automaton.initial, |_| true, |state, _| accepts(state), true)?;
    let inside = |state: u32| components.of[state as usize] == components.of[start as usize];
    let mut cycle: Vec<&Edge> = Vec::new();
    let mut missing = automaton.all_marks();
    let mut at = start;
    while missing != 0 {
        let found = |_, marks: u64| marks & missing != 0;
        let (path, end) = walk(automaton, at, inside, found, false)?;
        path.iter().for_each(|edge| missing &= !edge.marks);
        cycle.extend(path);
        at = end;
    }
    if at != start || cycle.is_empty() {
        let (path, _) = walk(automaton, at, inside, |state, _| state == start, false)?;
        cycle.extend(path);
    }
    let valuations = |edges: Vec<&Edge>| {
        edges
            .iter()
            .map(|edge| edge.label.cubes().first().map_or(0, |cube| cube.positive))
            .collect()
    };
    Some(Lasso { prefix: valuations(prefix), cycle: valuations(cycle) })
}

/// A word of which one formula is true and the other is not, if there is one: else they mean the same.
///
/// # Errors
/// If an automaton of both is too large.
pub fn difference(f: &Formula, g: &Formula) -> Result<Option<Lasso>, TooLarge> {
    for (f, g) in [(f, g), (g, f)] {
        let only = translate(&Formula::and([f.clone(), g.not()]))?;
        if let Some(word) = accepted_word(&only) {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

/// A shortest path to an edge that is right, by its end and its marks; and where it ends. `at_once`: no
/// edge is needed if the first state is right.
fn walk(
    automaton: &Automaton,
    from: u32,
    inside: impl Fn(u32) -> bool,
    right: impl Fn(u32, u64) -> bool,
    at_once: bool,
) -> Option<(Vec<&Edge>, u32)> {
    if at_once && right(from, 0) {
        return Some((Vec::new(), from));
    }
    let mut came_by: HashMap<u32, (u32, &Edge)> = HashMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(state) = open.pop_front() {
        for edge in automaton.states[state as usize].iter().filter(|edge| inside(edge.to)) {
            if right(edge.to, edge.marks) {
                let mut path = vec![edge];
                let mut at = state;
                while at != from {
                    let (before, edge) = came_by[&at];
                    path.push(edge);
                    at = before;
                }
                path.reverse();
                return Some((path, edge.to));
            }
            if edge.to != from && !came_by.contains_key(&edge.to) {
                came_by.insert(edge.to, (state, edge));
                open.push_back(edge.to);
            }
        }
    }
    None
}
