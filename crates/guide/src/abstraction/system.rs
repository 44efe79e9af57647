//! A system of parts that move together.
//!
//! Each part is a small automaton. What happens is a *label*: every part to which it matters makes one of its
//! moves for it, and all others stay as they are, unless one is in a state in which it lets nothing else happen. An error is where all parts are in one of their goals.

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

/// How far each state is from a goal, by edges with costs, which are small.
pub fn distances(goal: &[bool], edges: impl Iterator<Item = (u32, u32, u32)> + Clone) -> Vec<u32> {
    // The edges by where they lead: those of a state are behind those of the states before it.
    let mut ends = vec![0_u32; goal.len() + 1];
    edges.clone().for_each(|(_, to, _)| ends[to as usize + 1] += 1);
    for state in 0..goal.len() {
        ends[state + 1] += ends[state];
    }
    let mut before = vec![(0, 0); ends[goal.len()] as usize];
    let mut next = ends.clone();
    for (from, to, cost) in edges {
        let at = &mut next[to as usize];
        before[*at as usize] = (from, cost);
        *at += 1;
    }
    let mut distances: Vec<u32> = goal.iter().map(|it| if *it { 0 } else { NEVER }).collect();
    // States that wait, by distance.
    let mut open = vec![(0..).zip(goal).filter(|it| *it.1).map(|it| it.0).collect::<Vec<u32>>()];
    let mut distance = 0;
    while distance < open.len() {
        let Some(state) = open[distance].pop() else {
            distance += 1;
            continue;
        };
        let at = state as usize;
        if distances[at] as usize != distance {
            continue;
        }
        for &(from, cost) in &before[ends[at] as usize..ends[at + 1] as usize] {
            let (known, longer) = (&mut distances[from as usize], distance + cost as usize);
            if longer < *known as usize {
                *known = longer as u32;
                if open.len() <= longer {
                    open.resize_with(longer + 1, Vec::new);
                }
                open[longer].push(from);
            }
        }
    }
    distances
}
