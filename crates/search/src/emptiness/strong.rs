//! Strongly connected components, where sets that are met ask for others.
//!
//! *Idea* (Emerson and Lei, *Modalities for model checking*, 1987; Lichtenstein and Pnueli, *Checking that finite
//! state concurrent programs satisfy their linear specification*, 1985): a component in which each set that
//! [asks](System::pairs) and is met is answered has a cycle through all of its edges, which is an error if it meets
//! all other sets. In one in which some are not answered, no cycle that is an error comes through a state that
//! asks for these; without these states it falls into smaller components, of which each is looked at likewise.
//!
//! *Cost*: every state is expanded once, and those of a component that may have a cycle once more for each time
//! that states are taken out of it: at most once for each pair.

use spinward_machine::{Marks, System};
use spinward_store::{Full, Store};

use super::chain::{Chain, Standing};
use super::graph::Event;
use super::graph::Graph;
use super::lasso::Evidence;
use super::marked::MarksStack;
use super::walk::{Taken, Walk};
use crate::chunked::Chunked;
use crate::dfs::Entry;
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// Checks by strongly connected components; sets that ask must be answered.
pub fn strong<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    Start { system, scratch, request, progress }.run(Strong)
}

/// Names the search.
struct Strong;

impl Algorithm for Strong {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let graph = Graph::new(system, request, store, memory, watch.clock());
        let mut search = Search {
            walk: Walk::new(graph),
            rules: Rules::of(system),
            chain: Chain::new(Rules::ALL),
            inner: Chain::new(Rules::ALL),
            regions: Chunked::new(),
            region: 0,
        };
        let found = search.run(scratch, &mut watch);
        let Search { walk, chain, regions, region, .. } = search;
        let inside = |state: u32| regions.get(state as usize) == region;
        let evidence =
            found.map(|wanted| wanted.map(|wanted| Evidence::Region { inside: &inside, wanted }));
        let seen = |state| chain.standing(state) != Standing::New;
        Ok(walk.conclude(scratch, watch, evidence, &seen))
    }
}

/// What makes a cycle an error.
#[derive(Clone, Copy, Debug)]
struct Rules {
    sets: Marks,
    /// The number of the first set that asks, and how many there are.
    first: u32,
    pairs: u32,
}

impl Rules {
    /// All marks there can be.
    const ALL: Marks = Marks(u128::MAX);
    /// Each edge has this one here.
    const EDGE: Marks = Marks(1 << (Marks::MOST - 1));

    fn of<S: System>(system: &S) -> Self {
        let first = system.sets().unwrap_or(0);
        Self { sets: Marks::first(first), first, pairs: system.pairs() }
    }

    /// Whether a component with these marks inside may have a cycle that is an error.
    fn may_be_wrong(self, marks: Marks) -> bool {
        marks.has_all(self.sets.and(Self::EDGE))
    }

    /// Of those sets that ask and are met: which are answered, and which are not.
    fn asked(self, marks: Marks) -> (Marks, Marks) {
        let all = Marks::first(self.pairs).0;
        let asks = marks.0 >> self.first & all;
        let answers = marks.0 >> (self.first + self.pairs) & all;
        (Marks((asks & answers) << self.first), Marks((asks & !answers) << self.first))
    }

    /// The sets that answer those that ask.
    fn answers(self, asks: Marks) -> Marks {
        Marks(asks.0 << self.pairs)
    }
}

struct Search<'a, S, T> {
    walk: Walk<'a, S, T>,
    rules: Rules,
    chain: Chain,
    /// The components of a part of the graph.
    inner: Chain,
    /// By state: the last part of the graph that it was in.
    regions: Chunked<u32>,
    region: u32,
}

/// A part of the graph, with the marks of the edges inside.
struct Part {
    states: Vec<u32>,
    marks: Marks,
}

impl<S: System, T: Store> Search<'_, S, T> {
    /// The sets that a cycle in the last region meets, if there is one that is an error.
    fn run(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Marks>, Stopped> {
        self.walk.begin()?;
        self.grow()?;
        while let Some(taken) = self.walk.next()? {
            match taken {
                Taken::Left { state, .. } => {
                    if self.chain.is_first(state) {
                        let part = close(&mut self.chain);
                        if self.rules.may_be_wrong(part.marks)
                            && let Some(wanted) = self.look_into(part, scratch, watch)?
                        {
                            return Ok(Some(wanted));
                        }
                    }
                }
                Taken::Edge { to, depth, marks } => {
                    let marks = marks.and(Rules::EDGE);
                    match self.chain.standing(to) {
                        Standing::Dead => {}
                        Standing::Live => {
                            self.chain.merge(to, marks);
                        }
                        Standing::New => {
                            self.walk.open(to, depth, marks, scratch, watch)?;
                            self.grow()?;
                            self.chain.enter(to, marks, &self.walk.graph.memory)?;
                            self.walk.push_events(|_| true)?;
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn grow(&mut self) -> Result<(), Limit> {
        let (states, memory) = (self.walk.graph.len(), &self.walk.graph.memory);
        self.chain.grow(states, memory)?;
        self.inner.grow(states, memory)?;
        self.regions.grow(states, 0, memory)
    }

    /// The sets that a cycle in some part of a component meets, which then is the last region, if it is an error.
    fn look_into(
        &mut self,
        component: Part,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Marks>, Limit> {
        let mut parts = vec![component];
        while let Some(Part { states, marks }) = parts.pop() {
            self.region += 1;
            for &state in &states {
                self.regions.set(state as usize, self.region);
                self.inner.forget(state);
            }
            let (answered, missing) = self.rules.asked(marks);
            if missing == Marks::default() {
                return Ok(Some(self.rules.sets.and(self.rules.answers(answered))));
            }
            for &state in &states {
                self.split(state, missing, &mut parts, scratch, watch)?;
            }
        }
        Ok(None)
    }

    /// Finds the components of the last region that can be reached from a state, without states that ask for what is
    /// missing.
    fn split(
        &mut self,
        start: u32,
        missing: Marks,
        parts: &mut Vec<Part>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        let graph = &mut self.walk.graph;
        let mut stack = Chunked::new();
        let mut waiting = MarksStack::new(Marks::MOST);
        stack.push(Entry { state: start, depth: 0 }, &graph.memory)?;
        waiting.push(Marks::default(), &graph.memory)?;
        while let Some(entry) = stack.pop() {
            let (state, marks) = (entry.state, waiting.pop());
            if entry.is_open() {
                if self.inner.is_first(state) {
                    let part = close(&mut self.inner);
                    if self.rules.may_be_wrong(part.marks) {
                        parts.push(part);
                    }
                }
                continue;
            }
            match self.inner.standing(state) {
                Standing::Dead => {}
                Standing::Live => {
                    self.inner.merge(state, marks);
                }
                Standing::New => {
                    watch.tick(&graph.counts, 0, &graph.memory)?;
                    self.inner.enter(state, marks, &graph.memory)?;
                    stack.push(entry.open(), &graph.memory)?;
                    waiting.push(marks, &graph.memory)?;
                    graph.expand(state, scratch)?;
                    for &event in graph.events.iter() {
                        if let Event::Edge(edge) = event
                            && self.regions.get(edge.to as usize) == self.region
                            && !edge.marks.has_any(missing)
                        {
                            stack.push(Entry { state: edge.to, depth: 0 }, &graph.memory)?;
                            waiting.push(edge.marks.and(Rules::EDGE), &graph.memory)?;
                        }
                    }
                }
            }
        }
        stack.release(&graph.memory);
        waiting.release(&graph.memory);
        Ok(())
    }
}

/// Takes the last component of a chain.
fn close(chain: &mut Chain) -> Part {
    let marks = chain.marks();
    let mut states = Vec::new();
    chain.close(|state| states.push(state));
    Part { states, marks }
}
