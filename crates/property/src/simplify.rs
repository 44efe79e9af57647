//! Smaller automata that accept the same words.
//!
//! States from which nothing is accepted go; marks are kept only where they count, inside of components
//! in which some runs accept and others do not; acceptance sets that such a component does not need go,
//! and those that are left are numbered anew in each component, since no run accepts in two. Then
//! simulation (`simulation.rs`) makes states one, forwards and backwards, until nothing changes.
//!
//! Marks of edges between components are free. With all marks such an edge is better than others, with
//! none it is easier to be better than; both are tried in turn.

use std::collections::HashMap;

use crate::automaton::{Automaton, all_marks};
use crate::components::{Class, Components};
use crate::simulation::{backwards, forwards};

/// Makes an automaton smaller.
pub fn simplify(automaton: &mut Automaton) {
    merge_equal(automaton);
    clean(automaton, false);
    loop {
        let before = (automaton.states.len(), automaton.edges(), automaton.sets);
        for between in [false, true] {
            clean(automaton, between);
            forwards(automaton);
            clean(automaton, between);
            backwards(automaton, false);
        }
        clean(automaton, false);
        if (automaton.states.len(), automaton.edges(), automaton.sets) >= before {
            return;
        }
    }
}

/// Drops states and edges that no accepting run uses, and marks and sets that make no difference.
/// `between`: edges between components have all marks, else none.
pub fn clean(automaton: &mut Automaton, between: bool) {
    prune(automaton);
    let components = Components::of(automaton);
    let slots = slots(automaton, &components);
    let partial = slots.iter().map(Vec::len).max().unwrap_or(0);
    let rejects = (0..components.classes.len())
        .any(|c| components.classes[c] == Class::Rejecting && components.cyclic[c]);
    let sets = partial.max(usize::from(rejects));
    automaton.sets = u32::try_from(sets).expect("no more than there were");
    let all = all_marks(automaton.sets);
    for (state, edges) in automaton.states.iter_mut().enumerate() {
        let component = components.of[state] as usize;
        for edge in edges {
            edge.marks = if components.of[edge.to as usize] as usize != component {
                if between { all } else { 0 }
            } else {
                match components.classes[component] {
                    Class::Rejecting => 0,
                    Class::Accepting => all,
                    Class::Partial => {
                        let own = &slots[component];
                        let missing =
                            own.iter().enumerate().filter(|(_, set)| edge.marks >> **set & 1 == 0);
                        missing.fold(all, |marks, (slot, _)| marks & !(1 << slot))
                    }
                }
            };
        }
    }
    automaton.merge_edges();
}

/// Drops states from which nothing is accepted, and what cannot be reached.
pub(crate) fn prune(automaton: &mut Automaton) {
    let components = Components::of(automaton);
    // Edges lead to components with smaller numbers, so one pass is enough.
    let mut useful: Vec<bool> =
        components.classes.iter().map(|class| *class != Class::Rejecting).collect();
    let mut by_component: Vec<usize> = (0..automaton.states.len()).collect();
    by_component.sort_by_key(|state| components.of[*state]);
    for &state in &by_component {
        let leads = |to: u32| useful[components.of[to as usize] as usize];
        if automaton.states[state].iter().any(|edge| leads(edge.to)) {
            useful[components.of[state] as usize] = true;
        }
    }
    let of = |state: u32| useful[components.of[state as usize] as usize];
    if !of(automaton.initial) {
        *automaton = Automaton::empty(automaton.atoms);
        return;
    }
    for edges in &mut automaton.states {
        edges.retain(|edge| of(edge.to));
    }
    automaton.renumber();
}

/// The sets that each partial component needs.
fn slots(automaton: &Automaton, components: &Components) -> Vec<Vec<u32>> {
    let mut inside: Vec<Vec<u64>> = vec![Vec::new(); components.classes.len()];
    for (state, edges) in automaton.states.iter().enumerate() {
        let component = components.of[state];
        let stay = edges.iter().filter(|edge| components.of[edge.to as usize] == component);
        inside[component as usize].extend(stay.map(|edge| edge.marks));
    }
    let needed = |(component, marks): (usize, &Vec<u64>)| {
        if components.classes[component] != Class::Partial {
            return Vec::new();
        }
        let mut sets: Vec<u32> = (0..automaton.sets).collect();
        let mut i = 0;
        while i < sets.len() {
            // Whoever sees another set infinitely often sees this one too.
            let implied = |other: &u32| {
                *other != sets[i]
                    && marks.iter().all(|m| m >> other & 1 == 0 || m >> sets[i] & 1 == 1)
            };
            if sets.iter().any(implied) {
                sets.remove(i);
            } else {
                i += 1;
            }
        }
        sets
    };
    inside.iter().enumerate().map(needed).collect()
}

/// Makes states one that have the same edges, until there are none. Cheap, and enough to make most
/// automata small enough for simulation.
fn merge_equal(automaton: &mut Automaton) {
    loop {
        let mut first = HashMap::new();
        let mut target = Vec::new();
        for (state, edges) in automaton.states.iter().enumerate() {
            target.push(*first.entry(edges.clone()).or_insert(state));
        }
        if first.len() == automaton.states.len() {
            return;
        }
        for edge in automaton.states.iter_mut().flatten() {
            edge.to = u32::try_from(target[edge.to as usize]).expect("states are numbered by u32");
        }
        let initial = target[automaton.initial as usize];
        automaton.initial = u32::try_from(initial).expect("states are numbered by u32");
        automaton.renumber();
    }
}
