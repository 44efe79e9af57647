//! The smallest deterministic weak automaton, for languages that have one.
//!
//! Those are the obligations, to which safety and guarantee properties belong (Dax, Eisinger, Klaedtke,
//! *Mechanizing the Powerset Construction for Restricted Classes of ω-Automata*, ATVA 2007). The powerset
//! construction gives the graph; whether a component accepts is what the given automaton says of one
//! cycle in it. If the language is an obligation, the result has the same words, and that is checked
//! with an automaton of the negation. Components that no run stays in are coloured so that minimization
//! as of automata on finite words gives the one smallest automaton (Löding, *Efficient Minimization of
//! Deterministic Weak ω-Automata*, 2001).
//!
//! Exponential at worst, so we give up on graphs with more than [`MAX_STATES`] states.

use std::collections::{HashMap, VecDeque};

use crate::automaton::{Automaton, Edge, Label};
use crate::components::Components;
use crate::evaluate::{Lasso, accepts};
use crate::product::{accepted_word, intersection};
use crate::simplify::clean;

/// More states than that are not looked at.
const MAX_STATES: usize = 100;

/// More different valuations of one state than that are not looked at.
const MAX_LABELS: usize = 64;

/// The smallest deterministic weak automaton of the words of an automaton, given one of all other words. It
/// has all marks inside of accepting components.
pub(crate) fn deterministic(automaton: &Automaton, negation: &Automaton) -> Option<Automaton> {
    let (powers, members) = powerset(automaton)?;
    let accepting = decide(automaton, &powers, &members);
    let result = minimal(&powers, &accepting);
    let complement = mark(&result.0, |state| !result.1[state]);
    let mut result = mark(&result.0, |state| result.1[state]);
    let same = accepted_word(&intersection(automaton, &complement).ok()?).is_none()
        && accepted_word(&intersection(negation, &result).ok()?).is_none();
    if !same {
        return None;
    }
    clean(&mut result, false);
    Some(result)
}

/// With one set, of the edges that leave certain states.
fn mark(automaton: &Automaton, accepting: impl Fn(usize) -> bool) -> Automaton {
    let mut marked = Automaton { sets: 1, ..automaton.clone() };
    for (state, edges) in marked.states.iter_mut().enumerate() {
        edges.iter_mut().for_each(|edge| edge.marks = u64::from(accepting(state)));
    }
    marked
}

/// The sets of states that words lead to: complete and deterministic, without marks.
fn powerset(automaton: &Automaton) -> Option<(Automaton, Vec<Vec<u32>>)> {
    let first = vec![automaton.initial];
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let mut members = vec![first];
    let mut states = Vec::new();
    while let Some(from) = members.get(states.len()).cloned() {
        let mut parts = vec![(Label::truth(), Vec::new())];
        for edge in from.iter().flat_map(|state| &automaton.states[*state as usize]) {
            let outside = edge.label.not_above(MAX_LABELS)?;
            let mut finer = Vec::new();
            for (label, ends) in parts {
                let (with, without) = (label.and(&edge.label), label.and(&outside));
                if !with.is_false() {
                    let mut ends: Vec<u32> = ends.clone();
                    ends.push(edge.to);
                    finer.push((with, ends));
                }
                if !without.is_false() {
                    finer.push((without, ends));
                }
            }
            parts = finer;
            if parts.len() > MAX_LABELS {
                return None;
            }
        }
        let mut edges = Vec::new();
        for (label, mut ends) in parts {
            ends.sort_unstable();
            ends.dedup();
            let fresh = u32::try_from(members.len()).ok()?;
            let to = *numbers.entry(ends.clone()).or_insert(fresh);
            if to == fresh {
                members.push(ends);
            }
            edges.push(Edge { to, marks: 0, label });
        }
        if members.len() > MAX_STATES {
            return None;
        }
        states.push(edges);
    }
    let mut powers = Automaton { atoms: automaton.atoms, sets: 0, initial: 0, states };
    powers.merge_edges();
    Some((powers, members))
}

/// Which components accept, where runs stay; `None` where none does.
fn decide(automaton: &Automaton, powers: &Automaton, members: &[Vec<u32>]) -> Vec<Option<bool>> {
    let components = Components::of(powers);
    let mut decided: Vec<Option<bool>> = vec![None; components.classes.len()];
    for (state, members) in members.iter().enumerate() {
        let component = components.of[state] as usize;
        if !components.cyclic[component] || decided[component].is_some() {
            continue;
        }
        let cycle = cycle(powers, &components, state);
        let lasso = Lasso { prefix: Vec::new(), cycle };
        decided[component] = Some(
            members
                .iter()
                .any(|&initial| accepts(&Automaton { initial, ..automaton.clone() }, &lasso)),
        );
    }
    (0..powers.states.len()).map(|state| decided[components.of[state] as usize]).collect()
}

/// A shortest word that leads from a state back to it.
fn cycle(powers: &Automaton, components: &Components, state: usize) -> Vec<u64> {
    let valuation = |edge: &Edge| edge.label.cubes().first().map_or(0, |cube| cube.positive);
    let mut words: HashMap<usize, Vec<u64>> = HashMap::new();
    let mut open = VecDeque::from([state]);
    while let Some(at) = open.pop_front() {
        let word = words.get(&at).cloned().unwrap_or_default();
        for edge in &powers.states[at] {
            let to = edge.to as usize;
            if components.of[to] == components.of[state] {
                let longer = || [&word[..], &[valuation(edge)]].concat();
                if to == state {
                    return longer();
                }
                words.entry(to).or_insert_with(|| {
                    open.push_back(to);
                    longer()
                });
            }
        }
    }
    Vec::new()
}

/// The smallest automaton, and which of its states accept.
fn minimal(powers: &Automaton, accepting: &[Option<bool>]) -> (Automaton, Vec<bool>) {
    let colours = colours(powers, accepting);
    let mut classes: Vec<usize> = colours.iter().map(|colour| *colour as usize % 2).collect();
    loop {
        // Which states go to the same classes with the same valuations.
        let mut groups: Vec<(usize, Vec<(usize, Label)>)> = Vec::new();
        let mut finer = Vec::new();
        for (state, edges) in powers.states.iter().enumerate() {
            let mut ways: Vec<(usize, Label)> = Vec::new();
            for edge in edges {
                let class = classes[edge.to as usize];
                match ways.iter_mut().find(|(known, _)| *known == class) {
                    Some((_, label)) => *label = label.or(&edge.label),
                    None => ways.push((class, edge.label.clone())),
                }
            }
            ways.sort_unstable();
            let same = |(class, known): &(usize, Vec<(usize, Label)>)| {
                *class == classes[state]
                    && known.len() == ways.len()
                    && known.iter().zip(&ways).all(|(a, b)| a.0 == b.0 && a.1.same(&b.1))
            };
            let group = groups.iter().position(same).unwrap_or_else(|| {
                groups.push((classes[state], ways.clone()));
                groups.len() - 1
            });
            finer.push(group);
        }
        // Groups are numbered as they are met, so that numbers are the same once nothing is split.
        let stable = finer == classes;
        classes = finer;
        if stable {
            let number = |class: usize| u32::try_from(class).expect("few classes");
            let states = groups.iter().map(|(_, ways)| {
                let edge = |(class, label): &(usize, Label)| Edge {
                    to: number(*class),
                    marks: 0,
                    label: label.clone(),
                };
                ways.iter().map(edge).collect()
            });
            let states: Vec<Vec<Edge>> = states.collect();
            let initial = number(classes[powers.initial as usize]);
            let mut accepts = vec![false; states.len()];
            for (class, colour) in classes.iter().zip(&colours) {
                accepts[*class] = colour % 2 == 0;
            }
            let mut smallest = Automaton { states, initial, ..powers.clone() };
            smallest.merge_edges();
            return (smallest, accepts);
        }
    }
}

/// Even where runs are accepted, odd where not, and as great as can be without ever becoming greater along
/// an edge.
fn colours(powers: &Automaton, accepting: &[Option<bool>]) -> Vec<u32> {
    let components = Components::of(powers);
    let count = u32::try_from(components.classes.len()).expect("few states");
    let mut of_component = vec![2 * count + 2; components.classes.len()];
    let mut order: Vec<usize> = (0..powers.states.len()).collect();
    order.sort_by_key(|state| components.of[*state]);
    // Successors first: their components are done when a component begins.
    for part in order.chunk_by(|a, b| components.of[*a] == components.of[*b]) {
        let component = components.of[part[0]] as usize;
        let ends = part.iter().flat_map(|state| &powers.states[*state]);
        let below = ends.map(|edge| components.of[edge.to as usize] as usize);
        let least = below.filter(|c| *c != component).map(|c| of_component[c]).min();
        let least = least.unwrap_or(2 * count + 2);
        of_component[component] = match accepting[part[0]] {
            Some(accepts) if accepts != (least % 2 == 0) => least - 1,
            _ => least,
        };
    }
    components.of.iter().map(|component| of_component[*component as usize]).collect()
}
