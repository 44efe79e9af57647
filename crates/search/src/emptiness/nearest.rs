//! The shortest way to an edge.
//!
//! Dijkstra's search (*A note on two problems in connexion with graphs*, 1959) with a bucket for each
//! distance, over states that a check has seen: these are expanded again, which brings no new ones. Edges are
//! longer than one step for atomic sequences, and of no step where only the claim moves.
//!
//! *Cost*: each state that is nearer than what is looked for is expanded; eight bytes for each state.

use std::collections::BTreeMap;

use spinward_machine::{Marks, System};
use spinward_store::Store;

use super::graph::{Edge, Event, Graph};
use crate::chunked::{Chunked, Queue};
use crate::limits::{Limit, Memory, longer};

/// An edge of a run: where it leads, which marks it has at least, and how many steps it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub to: u32,
    pub marks: Marks,
    pub length: u32,
}

/// States that wait, the nearest first.
#[derive(Debug, Default)]
pub(crate) struct Buckets(BTreeMap<u32, Queue<u32>>);

impl Buckets {
    pub fn push(&mut self, distance: u32, state: u32, memory: &Memory) -> Result<(), Limit> {
        self.0.entry(distance).or_insert_with(Queue::new).push(state, memory)
    }

    pub fn pop(&mut self, memory: &Memory) -> Option<(u32, u32)> {
        let mut first = self.0.first_entry()?;
        let distance = *first.key();
        let state = first.get_mut().pop(memory)?;
        if first.get().len() == 0 {
            first.remove();
        }
        Some((distance, state))
    }

    pub fn clear(&mut self, memory: &Memory) {
        while self.pop(memory).is_some() {}
    }
}

/// Room for searches, one after the other.
#[derive(Debug)]
pub(crate) struct Nearest {
    /// By state.
    distances: Chunked<u32>,
    /// By state: where the shortest way comes from.
    before: Chunked<u32>,
    /// States that were met.
    met: Chunked<u32>,
    buckets: Buckets,
}

impl Nearest {
    const NEVER: u32 = u32::MAX;

    pub fn new() -> Self {
        Self {
            distances: Chunked::new(),
            before: Chunked::new(),
            met: Chunked::new(),
            buckets: Buckets::default(),
        }
    }

    /// The shortest way from a state to an edge that is looked for, over states that may be used.
    pub fn search<S: System, T: Store>(
        &mut self,
        graph: &mut Graph<'_, S, T>,
        scratch: &mut S::Scratch,
        start: u32,
        usable: &dyn Fn(u32) -> bool,
        wanted: &dyn Fn(Edge) -> bool,
    ) -> Result<Option<Vec<Hop>>, Limit> {
        self.clear(graph)?;
        self.reach(start, start, 0, &graph.memory)?;
        // The state before the last edge, that edge, and the length of the way.
        let mut best: Option<(u32, Edge, u32)> = None;
        while let Some((distance, state)) = self.buckets.pop(&graph.memory) {
            if best.is_some_and(|(.., length)| length <= distance) {
                break;
            }
            if distance > self.distances.get(state as usize) {
                continue;
            }
            graph.expand(state, scratch)?;
            for index in 0..graph.events.len() {
                let Event::Edge(edge) = graph.events[index] else { continue };
                if !usable(edge.to) {
                    continue;
                }
                let length = longer(distance, edge.length as usize);
                if wanted(edge) && best.is_none_or(|(.., known)| length < known) {
                    best = Some((state, edge, length));
                }
                if length < self.distances.get(edge.to as usize) {
                    self.reach(edge.to, state, length, &graph.memory)?;
                }
            }
        }
        Ok(best.map(|(state, edge, _)| self.way(start, state, edge)))
    }

    fn reach(
        &mut self,
        state: u32,
        from: u32,
        distance: u32,
        memory: &Memory,
    ) -> Result<(), Limit> {
        if self.distances.get(state as usize) == Self::NEVER {
            self.met.push(state, memory)?;
        }
        self.distances.set(state as usize, distance);
        self.before.set(state as usize, from);
        self.buckets.push(distance, state, memory)
    }

    fn way(&self, start: u32, last: u32, edge: Edge) -> Vec<Hop> {
        let mut way = vec![Hop { to: edge.to, marks: edge.marks, length: edge.length }];
        let mut at = last;
        while at != start {
            let from = self.before.get(at as usize);
            let length = self.distances.get(at as usize) - self.distances.get(from as usize);
            way.push(Hop { to: at, marks: Marks::default(), length });
            at = from;
        }
        way.reverse();
        way
    }

    /// Forgets the last search.
    fn clear<S: System, T: Store>(&mut self, graph: &Graph<'_, S, T>) -> Result<(), Limit> {
        while let Some(state) = self.met.pop() {
            self.distances.set(state as usize, Self::NEVER);
        }
        self.buckets.clear(&graph.memory);
        self.distances.grow(graph.len(), Self::NEVER, &graph.memory)?;
        self.before.grow(graph.len(), Self::NEVER, &graph.memory)
    }

    /// Gives the room back.
    pub fn release(&mut self, memory: &Memory) {
        self.buckets.clear(memory);
        self.distances.release(memory);
        self.before.release(memory);
        self.met.release(memory);
    }
}
