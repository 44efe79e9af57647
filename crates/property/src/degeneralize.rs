//! From many acceptance sets to one, on edges or on states.
//!
//! The usual construction keeps a *level* beside the state: the sets up to it have been seen, in some
//! order, since the last time all had been (Gastin and Oddoux, *Fast LTL to Büchi Automata
//! Translation*, CAV 2001, section 5; as many levels are jumped as an edge has marks for). Three things
//! make it smaller (Babiak, Badie, Duret-Lutz, Křetínský, Strejček, *Compositional Approach to
//! Suspension and Other Improvements to LTL Translation*, SPIN 2013, section 4): each component has
//! levels of its own, and needs none if all its runs accept or none does; of the copies of a component
//! only one that is never left is kept; and with accepting states, marks that all edges out of a state
//! have are seen on arrival. Of several orders of the sets the best is taken.
//!
//! *Invariant*: a kept copy of a component has each of its states at least once, and from each of them
//! all its edges.

use std::collections::HashMap;

use crate::automaton::{Automaton, Buchi, Edge, State};
use crate::components::{Class, Components, tarjan};
use crate::merge::merge;
use crate::simplify::{prune, simplify};
use crate::simulation::{backwards, forwards};

/// Orders of sets that are tried at most.
const MAX_ORDERS: usize = 24;

/// The same words with one acceptance set, on edges; simplified.
#[must_use]
pub fn degeneralize(automaton: &Automaton) -> Automaton {
    let mut result =
        if automaton.sets > 1 { unfold(automaton, Place::Edges) } else { automaton.clone() };
    simplify(&mut result);
    if result.sets == 0 {
        result.sets = 1;
        result.states.iter_mut().flatten().for_each(|edge| edge.marks = 1);
    }
    result
}

/// The same words with accepting states.
#[must_use]
pub fn buchi(automaton: &Automaton) -> Buchi {
    let mut direct = unfold(automaton, Place::States);
    simplify_by_state(&mut direct);
    let mut best = direct;
    if automaton.sets > 1 {
        let mut detour = unfold(&degeneralize(automaton), Place::States);
        simplify_by_state(&mut detour);
        if (detour.states.len(), detour.edges()) < (best.states.len(), best.edges()) {
            best = detour;
        }
    }
    by_state(best)
}

/// With fewer states, given an automaton of all other words.
pub(crate) fn merged_buchi(buchi: &Buchi, negation: &Automaton) -> Buchi {
    let mut automaton = buchi.automaton();
    merge(&mut automaton, negation, true, simplify_by_state);
    by_state(automaton)
}

/// An automaton in which all edges of a state have the same marks.
fn by_state(automaton: Automaton) -> Buchi {
    let state = |edges: Vec<Edge>| State {
        accepting: edges.iter().any(|edge| edge.marks == 1),
        edges: edges.into_iter().map(|edge| (edge.label, edge.to)).collect(),
    };
    Buchi {
        atoms: automaton.atoms,
        initial: automaton.initial,
        states: automaton.states.into_iter().map(state).collect(),
    }
}

/// Where the one acceptance set is to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Edges,
    /// On all edges that leave an accepting state.
    States,
}

/// A copy of a state in a component: the state, and its level.
type Copied = (u32, u32);

/// The copies of a component, with those of their edges that stay in it: marks, the number of the edge
/// in the list of its state, and the copy that it leads to.
struct Unfolded {
    copies: Vec<Copied>,
    edges: Vec<Vec<(bool, usize, usize)>>,
}

fn unfold(automaton: &Automaton, place: Place) -> Automaton {
    let components = Components::of(automaton);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); components.classes.len()];
    for (state, component) in (0..).zip(&components.of) {
        members[*component as usize].push(state);
    }
    let unfolded: Vec<Unfolded> = (0..members.len())
        .map(|c| match components.classes[c] {
            Class::Partial => partial(automaton, &components, &members[c], place),
            class => whole(automaton, &members[c], class == Class::Accepting),
        })
        .collect();
    let mut first = Vec::new();
    let mut count = 0;
    for part in &unfolded {
        first.push(count);
        count += part.copies.len();
    }
    let number = |c: usize, copy: usize| {
        u32::try_from(first[c] + copy).expect("levels are few, and states numbered by u32")
    };
    // Any copy is right to come in by; one of a low level is most often made anyway.
    let entry = |state: u32| {
        let c = components.of[state as usize] as usize;
        let copies = unfolded[c].copies.iter().enumerate().filter(|(_, copy)| copy.0 == state);
        let (copy, _) = copies.min_by_key(|(_, copy)| copy.1).expect("each state has a copy");
        number(c, copy)
    };
    let mut states = Vec::new();
    for (c, part) in unfolded.iter().enumerate() {
        for (copy, inside) in part.copies.iter().zip(&part.edges) {
            let accepting = place == Place::States && inside.iter().any(|(mark, ..)| *mark);
            let edges = &automaton.states[copy.0 as usize];
            let mut result = Vec::new();
            for (mark, edge, to) in inside {
                let label = edges[*edge].label.clone();
                result.push(Edge { to: number(c, *to), marks: u64::from(*mark), label });
            }
            for edge in edges.iter().filter(|edge| components.of[edge.to as usize] as usize != c) {
                let marks = u64::from(accepting);
                result.push(Edge { to: entry(edge.to), marks, label: edge.label.clone() });
            }
            states.push(result);
        }
    }
    let initial = entry(automaton.initial);
    let mut result = Automaton { atoms: automaton.atoms, sets: 1, initial, states };
    result.merge_edges();
    result
}

/// One copy of a component in which all runs accept or none.
fn whole(automaton: &Automaton, members: &[u32], mark: bool) -> Unfolded {
    let place = |state: u32| members.binary_search(&state).ok();
    let edges = members.iter().map(|state| {
        let edges = automaton.states[*state as usize].iter().enumerate();
        edges.filter_map(|(i, edge)| Some((mark, i, place(edge.to)?))).collect()
    });
    Unfolded { copies: members.iter().map(|state| (*state, 0)).collect(), edges: edges.collect() }
}

/// The smallest unfolding of a component, over some orders of its sets.
fn partial(
    automaton: &Automaton,
    components: &Components,
    members: &[u32],
    place: Place,
) -> Unfolded {
    let mut best: Option<Unfolded> = None;
    for order in orders(automaton.sets) {
        for early in [true, false] {
            if early && place == Place::Edges {
                continue;
            }
            for part in closed(levels(automaton, components, members, &order, place, early)) {
                if best.as_ref().is_none_or(|best| part.copies.len() < best.copies.len()) {
                    best = Some(part);
                }
            }
        }
    }
    best.expect("each component has a closed part")
}

/// Some orders of the sets: all if they are few, else all rotations.
fn orders(sets: u32) -> Vec<Vec<u32>> {
    let mut orders: Vec<Vec<u32>> = vec![Vec::new()];
    for set in 0..sets {
        let longer = orders.iter().flat_map(|order| {
            (0..=order.len()).map(move |i| {
                let mut order = order.clone();
                order.insert(order.len() - i, set);
                order
            })
        });
        orders = longer.collect();
        if orders.len() > MAX_ORDERS {
            let rotation = |first: u32| (0..sets).map(|i| (first + i) % sets).collect();
            return (0..sets).map(rotation).collect();
        }
    }
    orders
}

/// All copies of a component that its first state on level 0 leads to. `early`: marks that all edges of
/// a state have are seen on arrival.
fn levels(
    automaton: &Automaton,
    components: &Components,
    members: &[u32],
    order: &[u32],
    place: Place,
    early: bool,
) -> Unfolded {
    let component = components.of[members[0] as usize];
    let inside = |edge: &Edge| components.of[edge.to as usize] == component;
    let common = |state: u32| {
        let edges = automaton.states[state as usize].iter().filter(|edge| inside(edge));
        edges.fold(u64::MAX, |marks, edge| marks & edge.marks)
    };
    let top = order.len();
    let climb = |from: usize, marks: u64| {
        let next = (from..top).find(|level| marks >> order[*level] & 1 == 0);
        next.unwrap_or(top)
    };
    let level = |level: usize| u32::try_from(level).expect("at most 64 levels");
    let mut numbers = HashMap::from([((members[0], 0), 0)]);
    let mut copies = vec![(members[0], 0)];
    let mut all = Vec::new();
    while let Some(&(state, from)) = copies.get(all.len()) {
        let accepting = from as usize == top;
        let start = if accepting { 0 } else { from as usize };
        let mut edges = Vec::new();
        for (i, edge) in automaton.states[state as usize].iter().enumerate() {
            if !inside(edge) {
                continue;
            }
            let mut to = climb(start, edge.marks);
            let mut mark = accepting;
            match place {
                Place::Edges => {
                    mark = to == top;
                    if mark {
                        to = climb(0, edge.marks) % top;
                    }
                }
                Place::States if early => to = climb(to, common(edge.to)),
                Place::States => {}
            }
            let copy = (edge.to, level(to));
            let fresh = copies.len();
            let number = *numbers.entry(copy).or_insert(fresh);
            if number == fresh {
                copies.push(copy);
            }
            edges.push((mark, i, number));
        }
        all.push(edges);
    }
    Unfolded { copies, edges: all }
}

/// The parts that are never left.
fn closed(whole: Unfolded) -> Vec<Unfolded> {
    let successors = |edges: &Vec<(bool, usize, usize)>| {
        edges.iter().map(|(_, _, to)| u32::try_from(*to).expect("few copies")).collect()
    };
    let graph: Vec<Vec<u32>> = whole.edges.iter().map(successors).collect();
    let of = tarjan(&graph);
    let count = of.iter().max().map_or(0, |last| last + 1);
    let mut parts = Vec::new();
    for part in 0..count {
        let members: Vec<usize> = (0..of.len()).filter(|copy| of[*copy] == part).collect();
        let stays = |copy: &usize| graph[*copy].iter().all(|to| of[*to as usize] == part);
        if members.iter().all(stays) {
            let place = |copy: usize| members.binary_search(&copy).expect("never left");
            let edges = members.iter().map(|copy| {
                whole.edges[*copy].iter().map(|(m, i, to)| (*m, *i, place(*to))).collect()
            });
            parts.push(Unfolded {
                copies: members.iter().map(|copy| whole.copies[*copy]).collect(),
                edges: edges.collect(),
            });
        }
    }
    parts
}

/// Simplification that leaves marks on states.
fn simplify_by_state(automaton: &mut Automaton) {
    loop {
        let before = (automaton.states.len(), automaton.edges());
        for passing in [false, true] {
            clean_by_state(automaton, passing);
            forwards(automaton);
            clean_by_state(automaton, passing);
            backwards(automaton, true);
        }
        clean_by_state(automaton, false);
        if (automaton.states.len(), automaton.edges()) >= before {
            return;
        }
    }
}

/// Drops states that no accepting run uses, and makes states accepting where that makes no difference
/// to runs: in components of which all runs accept, and, if `passing`, where no run passes twice.
fn clean_by_state(automaton: &mut Automaton, passing: bool) {
    prune(automaton);
    automaton.sets = 1;
    let components = Components::of(automaton);
    for (state, edges) in automaton.states.iter_mut().enumerate() {
        let component = components.of[state] as usize;
        let marks = match components.classes[component] {
            Class::Accepting => 1,
            Class::Partial => continue,
            Class::Rejecting => u64::from(passing && !components.cyclic[component]),
        };
        edges.iter_mut().for_each(|edge| edge.marks = marks);
    }
    automaton.merge_edges();
}
