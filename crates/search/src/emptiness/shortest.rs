//! A shortest run to a cycle and round it, for at most one set.
//!
//! *Idea*: a run of this kind goes to some state and from there, over a marked edge, back to it. So, for all
//! states in the order of their distance: the shortest way from the state, unmarked, to the state, marked, in
//! a graph that has every state twice. The best run so far bounds everything: states beyond it are not looked
//! at, nor ways that would make a run as long. States of components without a marked edge have no such way,
//! and ways do not leave a component.
//!
//! *Cost*: all states nearer than the best run are expanded once, and their edges kept, twelve bytes each.
//! Then the time may be quadratic in the states of components with marked edges. So where a shortest run is not
//! asked for, only some effort is made, and the best run that was found by then is taken.

use spinward_machine::{Marks, System};
use spinward_store::Store;

use super::chain::{Chain, Standing};
use super::graph::{Event, Graph};
use super::lasso::Lasso;
use super::nearest::{Buckets, Hop};
use crate::chunked::Chunked;
use crate::dfs::Entry;
use crate::limits::{Limit, MAX_LENGTH, Memory, Watch, longer};

/// A run that is shorter than the bound, if one was found, and whether none is shorter: so many states are looked
/// at for that.
pub(crate) fn shortest<S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    scratch: &mut S::Scratch,
    watch: &mut Watch<'_>,
    bound: u32,
    mut effort: u64,
) -> Result<(Option<Lasso>, bool), Limit> {
    let mut near = Near::new();
    if !near.explore(graph, scratch, watch, bound, &mut effort)? {
        return Ok((None, false));
    }
    near.find_components(graph)?;
    let best = near.find_cycle(graph, watch, bound, &mut effort)?;
    Ok((best, effort > 0))
}

/// Spends one; whether there was one left.
fn spend(effort: &mut u64) -> bool {
    *effort = effort.saturating_sub(1);
    *effort > 0
}

/// An edge that is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    to: u32,
    length: u32,
    marked: bool,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
struct Known {
    distance: u32,
    /// Where the shortest way to it comes from.
    before: u32,
    /// The number of its component, if that has a marked edge.
    component: u32,
    /// How many edges it has, and where they are.
    edges: u32,
    first: usize,
}

impl Known {
    const NONE: u32 = u32::MAX;
    const NOTHING: Self = Self {
        distance: Self::NONE,
        before: Self::NONE,
        component: Self::NONE,
        edges: 0,
        first: 0,
    };
}

/// A state in the graph that has each twice.
#[derive(Clone, Copy, Debug)]
struct Half {
    distance: u32,
    /// Which half comes before.
    before: u32,
    /// The length of the edge from there.
    length: u32,
}

impl Half {
    const NOTHING: Self = Self { distance: u32::MAX, before: u32::MAX, length: 0 };
}

/// The part of the graph that is nearer than a bound.
struct Near {
    states: Chunked<Known>,
    edges: Chunked<Kept>,
    /// States by distance.
    order: Chunked<u32>,
}

impl Near {
    fn new() -> Self {
        Self { states: Chunked::new(), edges: Chunked::new(), order: Chunked::new() }
    }

    fn edge(&self, state: Known, index: u32) -> Kept {
        self.edges.get(state.first + index as usize)
    }

    /// Finds all states that are nearer than the bound, unless that takes too much effort.
    fn explore<S: System, T: Store>(
        &mut self,
        graph: &mut Graph<'_, S, T>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
        bound: u32,
        effort: &mut u64,
    ) -> Result<bool, Limit> {
        let most = graph.request.limits.max_states.unwrap_or(u64::MAX);
        let any = graph.system.sets() == Some(0);
        let mut buckets = Buckets::default();
        self.states.grow(graph.len(), Known::NOTHING, &graph.memory)?;
        self.states.set(0, Known { distance: 0, ..Known::NOTHING });
        buckets.push(0, 0, &graph.memory)?;
        while let Some((distance, state)) = buckets.pop(&graph.memory) {
            let mut known = self.states.get(state as usize);
            if distance >= bound {
                break;
            }
            if known.distance < distance {
                continue;
            }
            if !spend(effort) {
                return Ok(false);
            }
            if self.order.len() as u64 >= most {
                return Err(Limit::States);
            }
            watch.tick(&graph.counts, distance, &graph.memory)?;
            self.order.push(state, &graph.memory)?;
            graph.expand(state, scratch)?;
            self.states.grow(graph.len(), Known::NOTHING, &graph.memory)?;
            known.first = self.edges.len();
            for &event in graph.events.iter() {
                let Event::Edge(edge) = event else { continue };
                let marked = any || edge.marks.has_any(Marks::one(0));
                let kept = Kept { to: edge.to, length: edge.length, marked };
                self.edges.push(kept, &graph.memory)?;
                known.edges += 1;
                let length = longer(distance, edge.length as usize);
                let mut next = self.states.get(edge.to as usize);
                if length < next.distance {
                    (next.distance, next.before) = (length, state);
                    self.states.set(edge.to as usize, next);
                    buckets.push(length, edge.to, &graph.memory)?;
                }
            }
            self.states.set(state as usize, known);
        }
        buckets.clear(&graph.memory);
        Ok(true)
    }

    /// Numbers the components that have a marked edge.
    fn find_components<S: System, T: Store>(
        &mut self,
        graph: &Graph<'_, S, T>,
    ) -> Result<(), Limit> {
        let memory = &graph.memory;
        let mut chain = Chain::new(Marks::one(0));
        chain.grow(graph.len(), memory)?;
        let mut stack = Chunked::new();
        let mut numbered = 0;
        // The depth of an entry is 1 if the edge to it is marked.
        stack.push(Entry { state: 0, depth: 0 }, memory)?;
        while let Some(entry) = stack.pop() {
            let marks = Marks(u128::from(entry.length()));
            if entry.is_open() {
                if chain.is_first(entry.state) {
                    let complete = chain.is_complete();
                    let states = &mut self.states;
                    chain.close(|state| {
                        let mut known = states.get(state as usize);
                        known.component = if complete { numbered } else { Known::NONE };
                        states.set(state as usize, known);
                    });
                    numbered += u32::from(complete);
                }
                continue;
            }
            match chain.standing(entry.state) {
                Standing::Dead => {}
                Standing::Live => {
                    chain.merge(entry.state, marks);
                }
                Standing::New => {
                    chain.enter(entry.state, marks, memory)?;
                    stack.push(entry.open(), memory)?;
                    let known = self.states.get(entry.state as usize);
                    for index in 0..known.edges {
                        let edge = self.edge(known, index);
                        stack.push(Entry { state: edge.to, depth: edge.marked.into() }, memory)?;
                    }
                }
            }
        }
        stack.release(memory);
        Ok(())
    }

    /// The shortest run of all that are shorter than the bound, as far as the effort goes.
    fn find_cycle<S: System, T: Store>(
        &self,
        graph: &Graph<'_, S, T>,
        watch: &mut Watch<'_>,
        mut bound: u32,
        effort: &mut u64,
    ) -> Result<Option<Lasso>, Limit> {
        let memory = &graph.memory;
        if graph.len() > MAX_LENGTH as usize {
            return Err(Limit::Numbers);
        }
        let mut round =
            Round { halves: Chunked::new(), met: Chunked::new(), buckets: Buckets::default() };
        round.halves.grow(2 * graph.len(), Half::NOTHING, memory)?;
        let mut best = None;
        for state in self.order.iter() {
            let known = self.states.get(state as usize);
            if known.distance >= bound || *effort == 0 {
                break;
            }
            if known.component == Known::NONE {
                continue;
            }
            watch.tick(&graph.counts, known.distance, memory)?;
            if let Some((cycle, length)) =
                round.shortest(self, state, bound - known.distance, effort, watch, graph)?
            {
                bound = known.distance + length;
                best = Some((state, cycle));
            }
        }
        Ok(best.map(|(state, cycle)| Lasso { prefix: self.way(state), cycle }))
    }

    /// The shortest way to a state.
    fn way(&self, state: u32) -> Vec<Hop> {
        let mut way = Vec::new();
        let mut at = state;
        while at != 0 {
            let known = self.states.get(at as usize);
            let length = known.distance - self.states.get(known.before as usize).distance;
            way.push(Hop { to: at, marks: Marks::default(), length });
            at = known.before;
        }
        way.reverse();
        way
    }
}

/// Room for searches from a state back to it, one after the other. A half is twice the number of a state, and
/// one more if the way to it has a marked edge.
struct Round {
    halves: Chunked<Half>,
    /// Halves that were met.
    met: Chunked<u32>,
    buckets: Buckets,
}

impl Round {
    /// The shortest way over a marked edge from a state back to it, and its length, if it is shorter than the
    /// bound.
    fn shortest<S: System, T: Store>(
        &mut self,
        near: &Near,
        start: u32,
        bound: u32,
        effort: &mut u64,
        watch: &mut Watch<'_>,
        graph: &Graph<'_, S, T>,
    ) -> Result<Option<(Vec<Hop>, u32)>, Limit> {
        let memory = &graph.memory;
        let component = near.states.get(start as usize).component;
        while let Some(half) = self.met.pop() {
            self.halves.set(half as usize, Half::NOTHING);
        }
        self.buckets.clear(memory);
        self.reach(2 * start, Half { distance: 0, ..Half::NOTHING }, memory)?;
        let goal = 2 * start + 1;
        while let Some((distance, half)) = self.buckets.pop(memory) {
            if half == goal {
                return Ok(Some((self.way(2 * start, goal, graph.wanted()), distance)));
            }
            if distance > self.halves.get(half as usize).distance {
                continue;
            }
            if !spend(effort) {
                break;
            }
            watch.tick(&graph.counts, distance, memory)?;
            let known = near.states.get(half as usize / 2);
            for index in 0..known.edges {
                let edge = near.edge(known, index);
                let length = longer(distance, edge.length as usize);
                let next = 2 * edge.to + ((half % 2) | u32::from(edge.marked));
                if length < bound
                    && near.states.get(edge.to as usize).component == component
                    && length < self.halves.get(next as usize).distance
                {
                    let step = Half { distance: length, before: half, length: edge.length };
                    self.reach(next, step, memory)?;
                }
            }
        }
        Ok(None)
    }

    fn reach(&mut self, half: u32, how: Half, memory: &Memory) -> Result<(), Limit> {
        if self.halves.get(half as usize).distance == u32::MAX {
            self.met.push(half, memory)?;
        }
        self.halves.set(half as usize, how);
        self.buckets.push(how.distance, half, memory)
    }

    /// The way between two halves; only the edge that leads from unmarked to marked ones must be as wanted.
    fn way(&self, start: u32, end: u32, wanted: Marks) -> Vec<Hop> {
        let mut way = Vec::new();
        let mut at = end;
        while at != start {
            let Half { before, length, .. } = self.halves.get(at as usize);
            let marked = at % 2 == 1 && before.is_multiple_of(2);
            let marks = if marked { wanted } else { Marks::default() };
            way.push(Hop { to: at / 2, marks, length });
            at = before;
        }
        way.reverse();
        way
    }
}
