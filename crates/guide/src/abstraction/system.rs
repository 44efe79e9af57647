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

/// Something that each state has several of; those of one are together, as they came.
pub struct ByState<T> {
    /// By state, where its own begin; where the last ones end.
    bounds: Vec<u32>,
    all: Vec<T>,
}

impl<T: Copy + Default> ByState<T> {
    pub fn new(states: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut bounds = vec![0_u32; states + 1];
        items.clone().for_each(|(state, _)| bounds[state as usize + 1] += 1);
        for state in 0..states {
            bounds[state + 1] += bounds[state];
        }
        let mut all = vec![T::default(); bounds[states] as usize];
        let mut next = bounds.clone();
        for (state, item) in items {
            let at = &mut next[state as usize];
            all[*at as usize] = item;
            *at += 1;
        }
        Self { bounds, all }
    }

    pub fn of(&self, state: u32) -> &[T] {
        let at = state as usize;
        &self.all[self.bounds[at] as usize..self.bounds[at + 1] as usize]
    }
}

/// How far each state is from a goal, by edges with costs, which are small.
pub fn distances(goal: &[bool], edges: impl Iterator<Item = (u32, u32, u32)> + Clone) -> Vec<u32> {
    let before = ByState::new(goal.len(), edges.map(|(from, to, cost)| (to, (from, cost))));
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
        for &(from, cost) in before.of(state) {
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
