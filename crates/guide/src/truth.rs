//! How far states really are from an error: what estimates are held against.
//!
//! All states of a small system are found, and from the errors that guides know of all steps are followed backwards. It shares nothing
//! with the guides.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use spinward_machine::system::length;
use spinward_machine::{Flow, Sink, Step, System, Violation};

use crate::{Guide, NEVER, Room, Way};

/// All states of a system, and how far each is from an error that guides know of.
#[derive(Debug)]
pub struct Truth {
    /// The states; the first one first.
    pub states: Vec<Vec<u8>>,
    /// From, to, and by how many steps.
    pub edges: Vec<(usize, usize, u32)>,
    /// By state; [`NEVER`] if there is no way.
    pub distances: Vec<u32>,
    /// By state: whether anything at all goes wrong there or later, a run-time error too.
    pub doomed: Vec<bool>,
}

#[derive(Default)]
struct Collected {
    successors: Vec<(Vec<u8>, u32)>,
    /// How far the nearest error is that guides know of.
    wrong: Option<u32>,
    /// Whether there is any error.
    any: bool,
}

impl Sink for Collected {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.successors.push((state.to_vec(), length(steps) as u32));
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.any = true;
        if !matches!(violation, Violation::Runtime(..)) {
            let steps = length(steps) as u32;
            self.wrong = Some(self.wrong.map_or(steps, |known| known.min(steps)));
        }
        Flow::Continue(())
    }
}

impl Truth {
    /// Of a system; none if it has more states than that.
    pub fn of<S: System>(system: &S, max_states: usize) -> Option<Self> {
        let mut scratch = system.scratch();
        let mut initial = Vec::new();
        system.initial(&mut initial);
        let mut numbers = HashMap::from([(initial.clone(), 0)]);
        let mut states = vec![initial];
        let (mut edges, mut distances, mut doomed) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(state) = states.get(doomed.len()).cloned() {
            let mut collected = Collected::default();
            let _ = system.expand(&state, &mut scratch, &mut collected);
            for (to, steps) in collected.successors {
                let count = states.len();
                let number = *numbers.entry(to).or_insert_with_key(|to| {
                    states.push(to.clone());
                    count
                });
                edges.push((doomed.len(), number, steps));
            }
            distances.push(collected.wrong.unwrap_or(NEVER));
            doomed.push(collected.any);
            if states.len() > max_states {
                return None;
            }
        }
        let mut before = vec![Vec::new(); states.len()];
        edges.iter().for_each(|&(from, to, steps)| before[to].push((from, steps)));
        go_back(&before, &mut distances);
        let mut open: Vec<usize> = (0..states.len()).filter(|it| doomed[*it]).collect();
        while let Some(state) = open.pop() {
            for &(from, _) in &before[state] {
                if !std::mem::replace(&mut doomed[from], true) {
                    open.push(from);
                }
            }
        }
        Some(Self { states, edges, distances, doomed })
    }

    /// What a guide estimates in each state.
    pub fn estimates(&self, guide: &dyn Guide) -> Vec<u32> {
        let mut room = Room::default();
        let states = self.states.iter();
        states.map(|state| guide.estimate(state, Way::default(), &mut room)).collect()
    }
}

/// Lowers distances to what they are by way of others.
fn go_back(before: &[Vec<(usize, u32)>], distances: &mut [u32]) {
    let seeds = distances.iter().enumerate().filter(|(_, it)| **it != NEVER);
    let mut open: BinaryHeap<_> = seeds.map(|(state, &it)| Reverse((it, state))).collect();
    while let Some(Reverse((distance, state))) = open.pop() {
        if distance > distances[state] {
            continue;
        }
        for &(from, steps) in &before[state] {
            if distance + steps < distances[from] {
                distances[from] = distance + steps;
                open.push(Reverse((distance + steps, from)));
            }
        }
    }
}
