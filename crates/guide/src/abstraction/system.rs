//! A system of parts that move together.
//!
//! Each part is a small automaton. What happens is a *label*: every part to which it matters makes one of its
//! moves for it, and all others stay as they are, unless one is in a state in which it lets nothing else happen. An error is where all parts are in one of their goals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::NEVER;

/// The number of a label.
pub type Label = u32;

/// The moves of a part for a label.
pub type Moves = Vec<(u32, u32)>;

/// A part.
#[derive(Clone, Debug)]
pub struct Part {
    /// It moves of itself; others only change with those who do.
    pub acts: bool,
    pub size: u32,
    pub initial: Vec<u32>,
    /// By state.
    pub goal: Vec<bool>,
    /// By state: whether nothing happens there but what matters to it.
    pub still: Vec<bool>,
    /// The labels that matter to it, sorted, with its moves, sorted. Without any the label cannot happen.
    pub moves: Vec<(Label, Moves)>,
}

/// The parts, and what labels cost.
#[derive(Clone, Debug, Default)]
pub struct System {
    pub parts: Vec<Part>,
    /// By label: the steps of a run that it is.
    pub costs: Vec<u32>,
}

impl Part {
    /// Whether being in one of its goals is asked of it.
    pub fn has_goal(&self) -> bool {
        !self.goal.iter().all(|it| *it)
    }

    /// How far each of its states is from a goal, by its own moves.
    pub fn distances(&self, costs: &[u32]) -> Vec<u32> {
        let edges = self.moves.iter().flat_map(|(label, moves)| {
            let cost = costs[*label as usize];
            moves.iter().map(move |&(from, to)| (from, to, cost))
        });
        distances(&self.goal, edges)
    }
}

/// How far each state is from a goal, by edges with costs.
pub fn distances(goal: &[bool], edges: impl Iterator<Item = (u32, u32, u32)>) -> Vec<u32> {
    let mut before = vec![Vec::new(); goal.len()];
    for (from, to, cost) in edges {
        before[to as usize].push((from, cost));
    }
    let mut distances: Vec<u32> = goal.iter().map(|it| if *it { 0 } else { NEVER }).collect();
    let goals = (0..goal.len()).filter(|it| goal[*it]);
    let mut open: BinaryHeap<_> = goals.map(|it| Reverse((0, it as u32))).collect();
    while let Some(Reverse((distance, state))) = open.pop() {
        if distance > distances[state as usize] {
            continue;
        }
        for &(from, cost) in &before[state as usize] {
            let known = &mut distances[from as usize];
            if distance + cost < *known {
                *known = distance + cost;
                open.push(Reverse((*known, from)));
            }
        }
    }
    distances
}
