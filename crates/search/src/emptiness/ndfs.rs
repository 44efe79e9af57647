//! Nested depth-first search, in SPIN's order, for one set.
//!
//! *Idea*: when a state with marked edges is left, a second search goes from it over these edges; if it comes
//! to a state of the current run, there is a cycle with a marked edge (Holzmann, *The SPIN Model Checker*,
//! figure 8.7; Courcoubetis, Vardi, Wolper, Yannakakis, *Memory-efficient algorithms for the verification of
//! temporal properties*, 1992). As in SPIN 6 the first search tells a cycle, too, if it comes back to a state
//! that the current run has left by a marked edge. SPIN also looks at the state before the last step of the
//! edge that comes back, but where there is a claim, only at what has changed since: the places of processes.
//!
//! *Invariant*: what was searched a second time is not searched again, and no state of the current run can be
//! reached from there without passing one left before. For let a second search miss a way back to its
//! start because of a state that an earlier one has come to. All that can be reached from there was searched
//! without coming to a state of the run as it was then; the start of the later search is among it, and was
//! not in that run; as it can be reached from the earlier start over states left before, it was left before.
//! But it is left only now.
//!
//! *Cost*: each state is expanded at most three times: by the first search, when it is left if it has marked
//! edges, and by a second search. One byte for each state.

use spinward_machine::{Marks, System};
use spinward_store::{Full, Store};

use super::degeneralized::with_one_set;
use super::graph::{Edge, Event, Graph};
use super::lasso::Evidence;
use super::second::{Next, Second};
use super::walk::{Taken, Walk};
use crate::chunked::Chunked;
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// Checks by a nested depth-first search.
pub fn ndfs<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    with_one_set(Nested, Start { system, scratch, request, progress })
}

/// Names the search.
struct Nested;

impl Algorithm for Nested {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let graph = Graph::new(system, request, store, memory, watch.clock());
        let mut search =
            Ndfs { walk: Walk::new(graph), flags: Flags::new(), second: Second::new() };
        let found = search.run(scratch, &mut watch);
        let Ndfs { walk, flags, .. } = search;
        let evidence = found.map(|found| found.map(Evidence::From));
        Ok(walk.conclude(scratch, watch, evidence, &|state| flags.has(state, Flags::VISITED)))
    }
}

/// What is known of each state.
#[derive(Debug)]
pub(crate) struct Flags(Chunked<u8>);

impl Flags {
    /// The first search has come to it.
    pub const VISITED: u8 = 1;
    /// It is in the current run.
    pub const IN_RUN: u8 = 2;
    /// A second search has come to it.
    pub const SECOND: u8 = 4;
    /// The current run goes on from it by a marked edge.
    pub const LEFT_MARKED: u8 = 8;
    /// A second search is to be made when it is left.
    pub const TO_SEARCH: u8 = 16;

    pub fn new() -> Self {
        Self(Chunked::new())
    }

    pub fn grow<S: System, T: Store>(&mut self, graph: &Graph<'_, S, T>) -> Result<(), Limit> {
        self.0.grow(graph.len(), 0, &graph.memory)
    }

    pub fn has(&self, state: u32, flag: u8) -> bool {
        self.0.get(state as usize) & flag != 0
    }

    pub fn set(&mut self, state: u32, flags: u8) {
        self.0.set(state as usize, self.0.get(state as usize) | flags);
    }

    pub fn remove(&mut self, state: u32, flags: u8) {
        self.0.set(state as usize, self.0.get(state as usize) & !flags);
    }

    /// Where a second search goes, unless it is kept from it.
    pub fn judge(&mut self, edge: Edge) -> Next {
        if self.has(edge.to, Self::IN_RUN) {
            Next::Found
        } else if self.has(edge.to, Self::SECOND) {
            Next::Skip
        } else {
            self.set(edge.to, Self::SECOND);
            Next::Go
        }
    }
}

/// Whether an edge is in the one set.
pub(crate) fn is_marked(marks: Marks) -> bool {
    marks.has_any(Marks::one(0))
}

/// Whether one of the edges that an expansion has brought is marked.
pub(crate) fn any_marked<S: System, T: Store>(graph: &Graph<'_, S, T>) -> bool {
    let marked = |event: &Event| matches!(event, Event::Edge(edge) if is_marked(edge.marks));
    graph.events.iter().any(marked)
}

struct Ndfs<'a, S, T> {
    walk: Walk<'a, S, T>,
    flags: Flags,
    second: Second,
}

impl<S: System, T: Store> Ndfs<'_, S, T> {
    /// A state on a cycle with a marked edge, if there is one.
    fn run(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Stopped> {
        self.walk.begin()?;
        self.flags.grow(&self.walk.graph)?;
        while let Some(taken) = self.walk.next()? {
            match taken {
                Taken::Edge { to, depth, marks } => {
                    if self.flags.has(to, Flags::IN_RUN) && self.closes(to, marks, scratch) {
                        return Ok(Some(to));
                    }
                    if !self.flags.has(to, Flags::VISITED) {
                        self.enter(to, depth, marks, scratch, watch)?;
                    }
                }
                Taken::Left { state, .. } => {
                    if self.flags.has(state, Flags::TO_SEARCH) {
                        let (graph, flags) = (&mut self.walk.graph, &mut self.flags);
                        let found =
                            self.second.search(graph, state, scratch, watch, |_, from, edge| {
                                if from == state && !is_marked(edge.marks) {
                                    return Ok(Next::Skip);
                                }
                                Ok(flags.judge(edge))
                            })?;
                        if found.is_some() {
                            return Ok(found);
                        }
                    }
                    self.flags.remove(state, Flags::IN_RUN);
                }
            }
        }
        Ok(None)
    }

    /// Whether SPIN sees at once that an edge back to a state of the current run closes a wrong cycle.
    fn closes(&mut self, to: u32, marks: Marks, scratch: &mut S::Scratch) -> bool {
        match self.walk.top() {
            Some(top) if top != to => {
                self.flags.has(to, Flags::LEFT_MARKED)
                    || is_marked(marks) && self.walk.graph.ends_at_mark(top, to, scratch)
            }
            _ => is_marked(marks),
        }
    }

    fn enter(
        &mut self,
        state: u32,
        depth: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        match self.walk.top() {
            Some(top) if is_marked(marks) => self.flags.set(top, Flags::LEFT_MARKED),
            Some(top) => self.flags.remove(top, Flags::LEFT_MARKED),
            None => (),
        }
        self.walk.open(state, depth, marks, scratch, watch)?;
        self.flags.grow(&self.walk.graph)?;
        self.flags.set(state, Flags::VISITED | Flags::IN_RUN);
        if any_marked(&self.walk.graph) {
            self.flags.set(state, Flags::TO_SEARCH);
        }
        self.walk.push_events(|_| true)
    }
}
