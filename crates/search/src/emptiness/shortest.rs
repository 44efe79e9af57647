//! A shortest run to a cycle and round it, through a few sets.
//!
//! *Idea*: a run of this kind goes to some state and from there, over edges of all sets, back to it. So, for all
//! states in the order of their distance: the shortest way from the state, with no set met, to the state, with all
//! of them met, in a graph that has every state once for each choice of sets. The best run so far bounds everything:
//! states beyond it are not looked at, nor ways that would make a run as long. States of components that do not meet
//! all sets have no such way, and ways do not leave a component. Sets that all edges are in need not be looked for:
//! mostly there are few others, also where each process has one, for fairness.
//!
//! *Cost*: all states nearer than the best run are expanded once, and their edges kept, twelve bytes each.
//! Then the time may be quadratic in the states of components that meet all sets, times the choices of sets. So where
//! a shortest run is not asked for, only some effort is made, and the best run that was found by then is taken.

use rustc_hash::FxHashMap;
use spinward_machine::{Marks, System};
use spinward_store::{Exact, Store};

use super::chain::{Chain, Standing};
use super::graph::{Event, Graph};
use super::lasso::Lasso;
use super::nearest::{Buckets, Hop};
use crate::chunked::Chunked;
use crate::dfs::Entry;
use crate::limits::{Limit, Memory, Watch, longer};
use crate::outcome::{Found, Progress, Request};

/// So many states are looked at for a shorter run, if a shortest is not asked for, also after a short search.
const MIN_EFFORT: u64 = 100_000;

/// So many sets can be looked for: the graph has each state once for each choice of them.
const MOST_SETS: u32 = 8;

/// So many copies of states there may be for several sets, or two for each state, if only some effort is made.
const MOST_COPIES: usize = 1 << 22;

/// A run to a cycle and round it with fewer steps than these, if one was found, and whether none has fewer. Some effort
/// is made for that, more after a search that saw many states; any, if a shortest run is asked for.
pub fn shorter<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    steps: usize,
    states: u64,
    progress: &mut dyn FnMut(&Progress),
) -> (Option<Found>, bool) {
    let mut watch = Watch::new(&request.limits, progress);
    let memory = Memory::new(request.limits.memory);
    let Ok(store) = Exact::new(memory.budget()) else {
        return (None, false);
    };
    let mut graph = Graph::new(system, request, store, memory, watch.clock());
    let bound = u32::try_from(steps).unwrap_or(u32::MAX);
    let effort = effort(request, states);
    let found = match graph.initial() {
        Ok(_) => shortest(&mut graph, scratch, &mut watch, bound, effort),
        Err(limit) => Err(limit),
    };
    drop(watch);
    let (lasso, none_shorter) = found.unwrap_or((None, false));
    let is_shortest = none_shorter && request.shortest;
    (lasso.map(|lasso| lasso.found(&mut graph, scratch, is_shortest)), none_shorter)
}

/// So many states are looked at for a shorter run after a search that saw so many: any, if a shortest run is asked for.
pub fn effort(request: &Request, states: u64) -> u64 {
    if request.shortest { u64::MAX } else { MIN_EFFORT.max(2 * states) }
}

/// A run that is shorter than the bound, if one was found, and whether none is shorter: so many states are looked
/// at for that.
pub(crate) fn shortest<S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    scratch: &mut S::Scratch,
    watch: &mut Watch<'_>,
    bound: u32,
    effort: u64,
) -> Result<(Option<Lasso>, bool), Limit> {
    let mut near = Near::new();
    // If that is too much, there may be a cycle among the states that are nearest.
    let all = near.explore(graph, scratch, watch, bound, effort)?;
    let mut effort = effort;
    let sets = near.rare_sets(graph.wanted());
    let copies = graph.len() << sets.count;
    let too_many = sets.count > 1 && copies > MOST_COPIES && !graph.request.shortest;
    if sets.count > MOST_SETS || too_many {
        return Ok((None, false));
    }
    near.find_components(graph, &sets)?;
    let best = near.find_cycle(graph, watch, &sets, bound, &mut effort)?;
    Ok((best, all && effort > 0))
}

/// The sets that must be looked for.
struct Sets {
    /// Those that not all edges are in; none if an edge will do.
    rare: Marks,
    /// How many; one if an edge will do.
    count: u32,
}

impl Sets {
    /// Which of them an edge is in, one bit for each.
    fn of(&self, marks: Marks) -> u32 {
        if self.rare == Marks::default() {
            return 1;
        }
        let mut bits = 0;
        for (bit, set) in self.numbers().enumerate() {
            bits |= u32::from(marks.has_any(Marks::one(set))) << bit;
        }
        bits
    }

    /// The marks of an edge that is in some of them.
    fn marks(&self, bits: u32) -> Marks {
        let sets = self.numbers().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        sets.fold(Marks::default(), |marks, (_, set)| marks.and(Marks::one(set)))
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        let rare = self.rare;
        (0..Marks::MOST).filter(move |&set| rare.has_any(Marks::one(set)))
    }

    fn all(&self) -> u32 {
        (1 << self.count) - 1
    }
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
    /// The number of its marks.
    marks: u32,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
struct Known {
    distance: u32,
    /// Where the shortest way to it comes from.
    before: u32,
    /// The number of its component, if that meets all sets.
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

/// A state with a choice of sets.
#[derive(Clone, Copy, Debug)]
struct Copied {
    distance: u32,
    /// Which copy comes before.
    before: u32,
    /// The length of the edge from there.
    length: u32,
}

impl Copied {
    const NOTHING: Self = Self { distance: u32::MAX, before: u32::MAX, length: 0 };
}

/// The part of the graph that is nearer than a bound.
struct Near {
    states: Chunked<Known>,
    edges: Chunked<Kept>,
    /// States by distance.
    order: Chunked<u32>,
    /// The marks of edges, each once, and their numbers.
    marks: Vec<Marks>,
    numbers: FxHashMap<Marks, u32>,
}

impl Near {
    fn new() -> Self {
        Self {
            states: Chunked::new(),
            edges: Chunked::new(),
            order: Chunked::new(),
            marks: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// Those of some sets that not all edges are in.
    fn rare_sets(&self, wanted: Marks) -> Sets {
        let missing = |rare: Marks, marks: &Marks| rare.and(wanted.without(*marks));
        let rare = self.marks.iter().fold(Marks::default(), missing);
        Sets { rare, count: rare.0.count_ones().max(1) }
    }

    fn edge(&self, state: Known, index: u32) -> Kept {
        self.edges.get(state.first + index as usize)
    }

    /// Finds all states that are nearer than the bound, or the nearest of them; whether these are all.
    fn explore<S: System, T: Store>(
        &mut self,
        graph: &mut Graph<'_, S, T>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
        bound: u32,
        mut effort: u64,
    ) -> Result<bool, Limit> {
        let mut all = true;
        let most = graph.request.limits.max_states.unwrap_or(u64::MAX);
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
            all = spend(&mut effort);
            if !all {
                break;
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
                let marks = *self.numbers.entry(edge.marks).or_insert_with(|| {
                    self.marks.push(edge.marks);
                    self.marks.len() as u32 - 1
                });
                let kept = Kept { to: edge.to, length: edge.length, marks };
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
        Ok(all)
    }

    /// Numbers the components that meet all sets.
    fn find_components<S: System, T: Store>(
        &mut self,
        graph: &Graph<'_, S, T>,
        sets: &Sets,
    ) -> Result<(), Limit> {
        let memory = &graph.memory;
        let bits: Vec<_> = self.marks.iter().map(|&marks| sets.of(marks)).collect();
        let mut chain = Chain::new(Marks(sets.all().into()));
        chain.grow(graph.len(), memory)?;
        let mut stack = Chunked::new();
        let mut numbered = 0;
        // The depth of an entry says which sets the edge to it is in.
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
                        let depth = bits[edge.marks as usize];
                        stack.push(Entry { state: edge.to, depth }, memory)?;
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
        sets: &Sets,
        mut bound: u32,
        effort: &mut u64,
    ) -> Result<Option<Lasso>, Limit> {
        let memory = &graph.memory;
        if graph.len() > u32::MAX as usize >> sets.count {
            return Err(Limit::Numbers);
        }
        let mut round = Round {
            sets,
            bits: self.marks.iter().map(|&marks| sets.of(marks)).collect(),
            copies: Chunked::new(),
            met: Chunked::new(),
            buckets: Buckets::default(),
        };
        round.copies.grow(graph.len() << sets.count, Copied::NOTHING, memory)?;
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

/// Room for searches from a state back to it, one after the other. In the number of a copy that of a state stands
/// before the sets that the way to it met.
struct Round<'a> {
    sets: &'a Sets,
    /// By the number of marks: which sets they are of.
    bits: Vec<u32>,
    copies: Chunked<Copied>,
    /// Copies that were met.
    met: Chunked<u32>,
    buckets: Buckets,
}

impl Round<'_> {
    /// The shortest way through all sets from a state back to it, and its length, if it is shorter than the bound.
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
        while let Some(copy) = self.met.pop() {
            self.copies.set(copy as usize, Copied::NOTHING);
        }
        self.buckets.clear(memory);
        let first = start << self.sets.count;
        let goal = first | self.sets.all();
        self.reach(first, Copied { distance: 0, ..Copied::NOTHING }, memory)?;
        while let Some((distance, copy)) = self.buckets.pop(memory) {
            if copy == goal {
                return Ok(Some((self.way(first, goal), distance)));
            }
            if distance > self.copies.get(copy as usize).distance {
                continue;
            }
            if !spend(effort) {
                break;
            }
            watch.tick(&graph.counts, distance, memory)?;
            let known = near.states.get((copy >> self.sets.count) as usize);
            let met = copy & self.sets.all();
            for index in 0..known.edges {
                let edge = near.edge(known, index);
                let length = longer(distance, edge.length as usize);
                let met = met | self.bits[edge.marks as usize];
                let next = edge.to << self.sets.count | met;
                if length < bound
                    && near.states.get(edge.to as usize).component == component
                    && length < self.copies.get(next as usize).distance
                {
                    let step = Copied { distance: length, before: copy, length: edge.length };
                    self.reach(next, step, memory)?;
                }
            }
        }
        Ok(None)
    }

    fn reach(&mut self, copy: u32, how: Copied, memory: &Memory) -> Result<(), Limit> {
        if self.copies.get(copy as usize).distance == u32::MAX {
            self.met.push(copy, memory)?;
        }
        self.copies.set(copy as usize, how);
        self.buckets.push(how.distance, copy, memory)
    }

    /// The way between two copies; an edge must be in those sets that it is the first to meet.
    fn way(&self, start: u32, end: u32) -> Vec<Hop> {
        let mut way = Vec::new();
        let mut at = end;
        while at != start {
            let Copied { before, length, .. } = self.copies.get(at as usize);
            let marks = self.sets.marks(at & !before & self.sets.all());
            way.push(Hop { to: at >> self.sets.count, marks, length });
            at = before;
        }
        way.reverse();
        way
    }
}
