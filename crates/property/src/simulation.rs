//! Direct simulation, forwards and backwards.
//!
//! A state is *below* another if whatever it can do the other can do too: with each valuation, with at
//! least the marks, to a state that is below again. States that are below each other are made one, and
//! an edge goes if the same state has one with at least its marks to a state above (Etessami and
//! Holzmann, *Optimizing Büchi Automata*, CONCUR 2000; Somenzi and Bloem, CAV 2000; for backwards:
//! Mayr and Clemente, *Advanced Automata Minimization*, POPL 2013). The relation is that of valuations,
//! not of labels: an edge may be matched by several together.
//!
//! Plain iteration from the full relation down, which is quick enough for the few states of formulas:
//! automata with more than [`MAX_STATES`] states are left alone.

use crate::automaton::{Automaton, Cube, Edge, Label};

/// More states than that are not compared with each other.
const MAX_STATES: usize = 300;

/// Makes states one that can do the same, and drops edges that others are better than. A state that can
/// do everything becomes one with a single loop. If all edges of each state have the same marks, that
/// stays so.
pub(crate) fn forwards(automaton: &mut Automaton) {
    if automaton.states.len() > MAX_STATES {
        return;
    }
    // A state that can do everything, to compare with.
    let top = automaton.states.len();
    let everything = Edge { to: number(top), marks: automaton.all_marks(), label: Label::truth() };
    automaton.states.push(vec![everything]);
    let below = relation(&automaton.states, |_, _| true);
    let representative = |state: usize| {
        if below.both(state, top) {
            return top;
        }
        (0..state).find(|other| below.both(state, *other)).unwrap_or(state)
    };
    let representatives: Vec<usize> = (0..=top).map(representative).collect();
    for edge in automaton.states.iter_mut().flatten() {
        edge.to = number(representatives[edge.to as usize]);
    }
    automaton.initial = number(representatives[automaton.initial as usize]);
    automaton.merge_edges();
    drop_dominated(&mut automaton.states, &below);
    automaton.renumber();
}

/// Makes states one that are come to in the same ways, and drops edges from states that others are
/// better than. `by_state`: marks are those of states, and stay so.
pub(crate) fn backwards(automaton: &mut Automaton, by_state: bool) {
    let count = automaton.states.len();
    if count > MAX_STATES {
        return;
    }
    let marks = |state: usize| automaton.states[state].first().map_or(0, |edge| edge.marks);
    let initial = automaton.initial as usize;
    let below = relation(&reversed(&automaton.states), |a, b| {
        (a != initial || b == initial) && (!by_state || marks(a) == marks(b))
    });
    let representative =
        |state: usize| (0..state).find(|other| below.both(state, *other)).unwrap_or(state);
    let representatives: Vec<usize> = (0..count).map(representative).collect();
    let mut states = vec![Vec::new(); count];
    for (state, edges) in std::mem::take(&mut automaton.states).into_iter().enumerate() {
        states[representatives[state]].extend(edges.into_iter().map(|edge| {
            let to = number(representatives[edge.to as usize]);
            Edge { to, ..edge }
        }));
    }
    automaton.states = states;
    automaton.initial = number(representatives[initial]);
    automaton.merge_edges();
    let mut back = reversed(&automaton.states);
    drop_dominated(&mut back, &below);
    automaton.states = reversed(&back);
    automaton.renumber();
}

fn number(state: usize) -> u32 {
    u32::try_from(state).expect("states are numbered by u32")
}

fn reversed(states: &[Vec<Edge>]) -> Vec<Vec<Edge>> {
    let mut back = vec![Vec::new(); states.len()];
    for (state, edges) in states.iter().enumerate() {
        for edge in edges {
            back[edge.to as usize].push(Edge { to: number(state), ..edge.clone() });
        }
    }
    back
}

/// Which state is below which.
struct Below {
    count: usize,
    pairs: Vec<bool>,
}

impl Below {
    fn holds(&self, a: usize, b: usize) -> bool {
        self.pairs[a * self.count + b]
    }

    fn both(&self, a: usize, b: usize) -> bool {
        self.holds(a, b) && self.holds(b, a)
    }
}

/// The greatest simulation within the allowed pairs.
fn relation(states: &[Vec<Edge>], allowed: impl Fn(usize, usize) -> bool) -> Below {
    let count = states.len();
    let pairs = (0..count * count).map(|i| allowed(i / count, i % count)).collect();
    let mut below = Below { count, pairs };
    loop {
        let mut changed = false;
        for a in 0..count {
            for b in 0..count {
                if a != b && below.holds(a, b) && !matched(&states[a], &states[b], &below) {
                    below.pairs[a * count + b] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return below;
        }
    }
}

/// Can all edges of one state be matched by those of another?
fn matched(these: &[Edge], those: &[Edge], below: &Below) -> bool {
    let mut cubes = Vec::new();
    these.iter().all(|edge| {
        let better = those.iter().filter(|other| no_worse(edge, other, below));
        cubes.clear();
        cubes.extend(better.flat_map(|other| other.label.cubes()).copied());
        edge.label.covered(&cubes)
    })
}

fn no_worse(edge: &Edge, other: &Edge, below: &Below) -> bool {
    edge.marks & !other.marks == 0 && below.holds(edge.to as usize, other.to as usize)
}

/// Drops what others do better. No two edges of a state have the same end and marks, and no two states
/// that are left are below each other, so that of two edges at most one is better.
fn drop_dominated(states: &mut [Vec<Edge>], below: &Below) {
    for edges in states {
        let mut kept = edges.clone();
        for (i, edge) in kept.iter_mut().enumerate() {
            let better = edges.iter().enumerate().filter(|(j, other)| {
                *j != i && no_worse(edge, other, below) && !no_worse(other, edge, below)
            });
            let cubes: Vec<Cube> =
                better.flat_map(|(_, other)| other.label.cubes()).copied().collect();
            if !cubes.is_empty() {
                edge.label = edge.label.beyond(&cubes);
            }
        }
        kept.retain(|edge| !edge.label.is_false());
        *edges = kept;
    }
}
