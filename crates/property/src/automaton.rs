//! Automata on infinite words: transition-based generalized Büchi automata.
//!
//! Edges have a label, the valuations they can be taken with, and *marks*, the acceptance sets they
//! belong to. A run accepts if it takes edges of each set infinitely often; without sets every
//! infinite run does. Büchi automata with accepting states are a special case, [`Buchi`].

pub use crate::label::{Cube, Label};

/// How many acceptance sets there can be: the marks of an edge are one word.
pub const MAX_SETS: u32 = 64;

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The state it leads to.
    pub to: u32,
    /// The acceptance sets it is in, as a set of bits.
    pub marks: u64,
    /// The valuations it can be taken with.
    pub label: Label,
}

/// A transition-based generalized Büchi automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The atoms that labels may speak of, as a set of bits.
    pub atoms: u64,
    /// The number of acceptance sets, at most [`MAX_SETS`].
    pub sets: u32,
    /// The state runs begin in.
    pub initial: u32,
    /// The edges of each state, sorted.
    pub states: Vec<Vec<Edge>>,
}

impl Automaton {
    /// The one without runs.
    pub fn empty(atoms: u64) -> Self {
        Self { atoms, sets: 0, initial: 0, states: vec![Vec::new()] }
    }

    /// All marks.
    pub fn all_marks(&self) -> u64 {
        all_marks(self.sets)
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// Edges that differ only in their labels become one; those that nothing satisfies go. Sorts.
    pub fn merge_edges(&mut self) {
        for edges in &mut self.states {
            edges.retain(|edge| !edge.label.is_false());
            edges.sort_unstable();
            let same = |a: &Edge, b: &Edge| a.to == b.to && a.marks == b.marks;
            let merged = edges.chunk_by(same).map(|group| match group {
                [edge] => edge.clone(),
                _ => {
                    let cubes = group.iter().flat_map(|edge| edge.label.cubes()).copied();
                    Edge { label: Label::of(cubes), ..group[0].clone() }
                }
            });
            *edges = merged.collect();
        }
    }

    /// Keeps only what can be reached, with states numbered in the order of a breadth-first walk.
    pub fn renumber(&mut self) {
        let mut numbers = vec![u32::MAX; self.states.len()];
        let mut order = vec![self.initial];
        numbers[self.initial as usize] = 0;
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for edge in &self.states[state as usize] {
                let number = &mut numbers[edge.to as usize];
                if *number == u32::MAX {
                    *number = u32::try_from(order.len()).expect("no more than there were");
                    order.push(edge.to);
                }
            }
        }
        let mut states: Vec<Vec<Edge>> =
            order.iter().map(|&state| std::mem::take(&mut self.states[state as usize])).collect();
        for edge in states.iter_mut().flatten() {
            edge.to = numbers[edge.to as usize];
        }
        self.initial = 0;
        self.states = states;
        self.merge_edges();
    }
}

/// The first so many marks.
pub(crate) fn all_marks(sets: u32) -> u64 {
    if sets == 64 { u64::MAX } else { (1 << sets) - 1 }
}

/// A state of a [`Buchi`] automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Does a run accept that comes here infinitely often?
    pub accepting: bool,
    /// Where to, and with which valuations.
    pub edges: Vec<(Label, u32)>,
}

/// A Büchi automaton with accepting states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buchi {
    /// The atoms that labels may speak of, as a set of bits.
    pub atoms: u64,
    /// The state runs begin in.
    pub initial: u32,
    /// The states.
    pub states: Vec<State>,
}

impl Buchi {
    /// The same with marks on the edges that leave accepting states.
    pub fn automaton(&self) -> Automaton {
        let edges = |state: &State| {
            let marks = u64::from(state.accepting);
            let edge = |(label, to): &(Label, u32)| Edge { to: *to, marks, label: label.clone() };
            state.edges.iter().map(edge).collect()
        };
        Automaton {
            atoms: self.atoms,
            sets: 1,
            initial: self.initial,
            states: self.states.iter().map(edges).collect(),
        }
    }

    /// Is the state one from which every run accepts, because it never leaves it?
    pub fn is_sink(&self, state: u32) -> bool {
        let State { accepting, edges } = &self.states[state as usize];
        *accepting && matches!(&edges[..], [(label, to)] if *to == state && label.is_true())
    }
}
