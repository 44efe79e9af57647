//! Nested depth-first search that knows the components of a claim, for one set.
//!
//! *Idea* (Edelkamp, Leue, Lluch Lafuente, *Directed explicit-state model checking in the validation of
//! communication protocols*, 2004, section 7, figure 15): no cycle leads out of a component of the claim. Where
//! each cycle in a component is an error, the first search finds it when it comes back to its current run, and
//! no second search is made; where none is, neither. Only where it depends on marks there are second
//! searches, when a state with marked edges is left as in [`super::ndfs`], and they stay in the component.
//!
//! *Invariant*: that of [`super::ndfs`], in each component by itself.
//!
//! *Cost*: that of [`super::ndfs`] where it depends on marks, else that of a depth-first search; eight more
//! bytes for each state.

use spinward_machine::{Cycles, System};
use spinward_store::{Full, Store};

use super::degeneralized::with_one_set;
use super::graph::Graph;
use super::lasso::Evidence;
use super::ndfs::{Flags, any_marked, is_marked};
use super::second::{Next, Second};
use super::walk::{Taken, Walk};
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// Checks by a nested depth-first search that knows the components of the claim.
pub fn indfs<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    with_one_set(Improved, Start { system, scratch, request, progress })
}

/// Names the search.
struct Improved;

impl Algorithm for Improved {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let mut search = Indfs::new(Graph::new(system, request, store, memory, watch.clock()));
        let found = search.run(scratch, &mut watch);
        let Indfs { walk, flags, .. } = search;
        let evidence = found.map(|found| found.map(Evidence::From));
        Ok(walk.conclude(scratch, watch, evidence, &|state| flags.has(state, Flags::VISITED)))
    }
}

/// A search that is under way.
pub(super) struct Indfs<'a, S, T> {
    pub walk: Walk<'a, S, T>,
    pub flags: Flags,
    second: Second,
}

impl<'a, S: System, T: Store> Indfs<'a, S, T> {
    pub fn new(mut graph: Graph<'a, S, T>) -> Self {
        graph.keep_components();
        Self { walk: Walk::new(graph), flags: Flags::new(), second: Second::new() }
    }

    /// A state on a cycle that is an error, if there is one.
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
                    if self.closes(to) {
                        return Ok(Some(to));
                    }
                    if !self.flags.has(to, Flags::VISITED) {
                        self.walk.open(to, depth, marks, scratch, watch)?;
                        self.enter(to)?;
                    }
                }
                Taken::Left { state, .. } => {
                    let found = self.leave(state, scratch, watch)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether an edge to a state closes a cycle that is an error, whatever its marks.
    pub fn closes(&self, to: u32) -> bool {
        self.flags.has(to, Flags::IN_RUN) && self.walk.graph.component(to).1 == Cycles::Wrong
    }

    /// Puts the successors of a state that was opened on the stack.
    pub fn enter(&mut self, state: u32) -> Result<(), Limit> {
        self.flags.grow(&self.walk.graph)?;
        self.flags.set(state, Flags::VISITED | Flags::IN_RUN);
        let (_, cycles) = self.walk.graph.component(state);
        if cycles == Cycles::Judged && any_marked(&self.walk.graph) {
            self.flags.set(state, Flags::TO_SEARCH);
        }
        self.walk.push_events(|_| true)
    }

    /// Leaves a state, all of whose successors were visited or are in other components; a state on a cycle that is an error,
    /// if a second search finds one.
    pub fn leave(
        &mut self,
        state: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Limit> {
        if self.flags.has(state, Flags::TO_SEARCH) {
            let found = self.search_again(state, scratch, watch)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        self.flags.remove(state, Flags::IN_RUN);
        Ok(None)
    }

    /// Searches from a state over its marked edges, inside its component.
    fn search_again(
        &mut self,
        start: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Limit> {
        let (graph, flags) = (&mut self.walk.graph, &mut self.flags);
        let (component, _) = graph.component(start);
        self.second.search(graph, start, scratch, watch, |graph, from, edge| {
            let unmarked = from == start && !is_marked(edge.marks);
            if unmarked || graph.component(edge.to).0 != component {
                return Ok(Next::Skip);
            }
            Ok(flags.judge(edge))
        })
    }
}
