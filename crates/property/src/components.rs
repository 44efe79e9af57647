//! Strongly connected components of an automaton, and what runs that stay in one are worth.
//!
//! Tarjan's algorithm (1972) without recursion. A component is *rejecting* if no run in it accepts,
//! *accepting* if every infinite run in it does, *partial* otherwise: searches need look for accepting
//! cycles only in the part of the system that is paired with partial components (Edelkamp, Leue,
//! Lluch-Lafuente, *Directed Explicit-State Model Checking*, 2004, section 5; Černá and Pelánek,
//! *Relating Hierarchy of Temporal Properties to Model Checking*, 2003). An automaton is *weak* if no
//! component is partial, and *terminal* if besides a run accepts as soon as it comes to an accepting
//! component: then a violation is a state that is reached.

use crate::automaton::{Automaton, Cube};

/// What runs that stay in a component are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// None accepts, perhaps because there is none.
    Rejecting,
    /// All accept.
    Accepting,
    /// Some accept.
    Partial,
}

/// The components of an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The component of each state. Edges never lead to a component with a greater number.
    pub of: Vec<u32>,
    /// What runs in each component are worth.
    pub classes: Vec<Class>,
    /// Is there a cycle in it?
    pub cyclic: Vec<bool>,
    /// Is every run from here accepted, which can go on whatever happens?
    pub universal: Vec<bool>,
}

impl Components {
    /// Of an automaton.
    pub fn of(automaton: &Automaton) -> Self {
        let graph = graph(automaton, |_| true);
        let of = tarjan(&graph);
        let count = of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut cyclic = vec![false; count];
        let mut collected = vec![0; count];
        for (state, edges) in automaton.states.iter().enumerate() {
            for edge in edges.iter().filter(|edge| of[edge.to as usize] == of[state]) {
                cyclic[of[state] as usize] = true;
                collected[of[state] as usize] |= edge.marks;
            }
        }
        let mut classes: Vec<Class> = (0..count)
            .map(|c| {
                let accepts = cyclic[c] && collected[c] == automaton.all_marks();
                if accepts { Class::Accepting } else { Class::Rejecting }
            })
            .collect();
        // A cycle that misses a set is one without the edges of the set.
        for set in 0..automaton.sets {
            let missing = self::graph(automaton, |marks| marks >> set & 1 == 0);
            let parts = tarjan(&missing);
            let mut sizes = vec![0; parts.len()];
            parts.iter().for_each(|part| sizes[*part as usize] += 1);
            for (state, to) in missing.iter().enumerate() {
                let loops =
                    sizes[parts[state] as usize] > 1 || to.iter().any(|to| *to as usize == state);
                let class = &mut classes[of[state] as usize];
                if loops && *class == Class::Accepting {
                    *class = Class::Partial;
                }
            }
        }
        let universal = universal(automaton, &of, &classes);
        Self { of, classes, cyclic, universal }
    }

    /// Of the component of a state.
    pub fn class(&self, state: u32) -> Class {
        self.classes[self.of[state as usize] as usize]
    }

    /// Is no component partial?
    pub fn is_weak(&self) -> bool {
        !self.classes.contains(&Class::Partial)
    }

    /// Is every run accepted that comes to a component in which some are?
    pub fn is_terminal(&self) -> bool {
        let states = self.of.iter().zip(&self.universal);
        let mut open = states.filter(|(_, universal)| !**universal);
        open.all(|(of, _)| self.classes[*of as usize] == Class::Rejecting)
    }
}

/// The states in accepting components that can always go on to such states: the greatest such set.
fn universal(automaton: &Automaton, of: &[u32], classes: &[Class]) -> Vec<bool> {
    let accepting = |of: &u32| classes[*of as usize] == Class::Accepting;
    let mut universal: Vec<bool> = of.iter().map(accepting).collect();
    loop {
        let mut changed = false;
        for (state, edges) in automaton.states.iter().enumerate() {
            if universal[state] {
                let stay = edges.iter().filter(|edge| universal[edge.to as usize]);
                let cubes: Vec<Cube> = stay.flat_map(|edge| edge.label.cubes()).copied().collect();
                if !crate::automaton::Label::truth().covered(&cubes) {
                    universal[state] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return universal;
        }
    }
}

/// The successors of each state by edges with such marks.
fn graph(automaton: &Automaton, with: impl Fn(u64) -> bool) -> Vec<Vec<u32>> {
    let successors = |edges: &Vec<crate::automaton::Edge>| {
        edges.iter().filter(|edge| with(edge.marks)).map(|edge| edge.to).collect()
    };
    automaton.states.iter().map(successors).collect()
}

/// The number of the component of each node, successors first.
pub(crate) fn tarjan(graph: &[Vec<u32>]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let mut component = vec![NEW; graph.len()];
    let mut index = vec![NEW; graph.len()];
    let mut low = vec![0; graph.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(u32, usize)> = Vec::new();
    let (mut visited, mut components) = (0, 0);
    for root in 0..graph.len() {
        if index[root] != NEW {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                index[node] = visited;
                low[node] = visited;
                visited += 1;
                let number = u32::try_from(node).expect("states are numbered by u32");
                open.push(number);
                path.push((number, 0));
            }
            let Some((node, next)) = path.last_mut() else { break };
            let node = *node as usize;
            if let Some(&to) = graph[node].get(*next) {
                *next += 1;
                let to = to as usize;
                if index[to] == NEW {
                    enter = Some(to);
                } else if component[to] == NEW {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = open.pop() {
                    component[member as usize] = components;
                    if member as usize == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}
