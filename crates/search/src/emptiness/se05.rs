//! A nested depth-first search that tells cycles early, for one set.
//!
//! *Idea* (Schwoon, Esparza, *A note on on-the-fly verification algorithms*, 2005; for marks on edges and with
//! the counter of Couvreur, Duret-Lutz, Poitrenaud, SPIN 2005, section 4.2): the first search tells a cycle when
//! it comes back to its current run and an edge on the way round is marked; where the marked edges of
//! the run are is kept beside it. When a marked edge was taken to its end, a second search goes from where it
//! leads; if it comes to a state of the current run, there is a cycle with that edge. States searched from
//! a second time are done with.
//!
//! *Invariant*: put a state on each marked edge; then second searches are made when such a state is left, in the
//! order in which they are left, which loses nothing (see [`super::ndfs`]).
//!
//! *Cost*: each state is expanded at most twice. Five bytes for each state, four more for each marked edge
//! of the current run.

use spinward_machine::{Marks, System};
use spinward_store::{Full, Store};

use super::degeneralized::with_one_set;
use super::graph::Graph;
use super::lasso::Evidence;
use super::ndfs::is_marked;
use super::second::{Next, Second};
use super::walk::{Taken, Walk};
use crate::chunked::Chunked;
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// Checks by a nested depth-first search that tells cycles early.
pub fn se05<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    with_one_set(SchwoonEsparza, Start { system, scratch, request, progress })
}

/// Names the search.
struct SchwoonEsparza;

impl Algorithm for SchwoonEsparza {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let graph = Graph::new(system, request, store, memory, watch.clock());
        let mut search = Se05 {
            walk: Walk::new(graph),
            colours: Chunked::new(),
            places: Chunked::new(),
            marked: Chunked::new(),
            second: Second::new(),
        };
        let found = search.run(scratch, &mut watch);
        let Se05 { walk, colours, .. } = search;
        let evidence = found.map(|found| found.map(Evidence::From));
        let seen = |state| colours.get(state as usize) != Colour::White;
        Ok(walk.conclude(scratch, watch, evidence, &seen))
    }
}

/// What is known of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Nothing.
    White,
    /// It is in the current run.
    Cyan,
    /// It was left.
    Blue,
    /// It was searched from a second time.
    Red,
}

struct Se05<'a, S, T> {
    walk: Walk<'a, S, T>,
    colours: Chunked<Colour>,
    /// By state of the current run: its place there.
    places: Chunked<u32>,
    /// The places of those states of the current run that were entered by a marked edge.
    marked: Chunked<u32>,
    second: Second,
}

impl<S: System, T: Store> Se05<'_, S, T> {
    /// A state on a cycle with a marked edge, if there is one.
    fn run(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Stopped> {
        self.walk.begin()?;
        self.grow()?;
        while let Some(taken) = self.walk.next()? {
            let from = match taken {
                Taken::Edge { to, depth, marks } => match self.colours.get(to as usize) {
                    Colour::White => {
                        self.enter(to, depth, marks, scratch, watch)?;
                        continue;
                    }
                    Colour::Cyan => {
                        if is_marked(marks) || self.met_after(to) {
                            return Ok(Some(to));
                        }
                        continue;
                    }
                    Colour::Blue if is_marked(marks) => to,
                    Colour::Blue | Colour::Red => continue,
                },
                Taken::Left { state, marks } => {
                    self.colours.set(state as usize, Colour::Blue);
                    if !is_marked(marks) {
                        continue;
                    }
                    self.marked.pop();
                    state
                }
            };
            let found = self.search_again(from, scratch, watch)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Whether an edge of the current run after a state of it is marked.
    fn met_after(&self, state: u32) -> bool {
        let last = self.marked.len().checked_sub(1);
        last.is_some_and(|last| self.marked.get(last) > self.places.get(state as usize))
    }

    fn search_again(
        &mut self,
        start: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Limit> {
        let (graph, colours) = (&mut self.walk.graph, &mut self.colours);
        colours.set(start as usize, Colour::Red);
        self.second.search(graph, start, scratch, watch, |_, _, edge| {
            Ok(match colours.get(edge.to as usize) {
                Colour::Cyan => Next::Found,
                Colour::Blue => {
                    colours.set(edge.to as usize, Colour::Red);
                    Next::Go
                }
                Colour::White | Colour::Red => Next::Skip,
            })
        })
    }

    fn enter(
        &mut self,
        state: u32,
        depth: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        let place = self.walk.run_length() as u32;
        self.walk.open(state, depth, marks, scratch, watch)?;
        self.grow()?;
        self.colours.set(state as usize, Colour::Cyan);
        self.places.set(state as usize, place);
        if is_marked(marks) {
            self.marked.push(place, &self.walk.graph.memory)?;
        }
        self.walk.push_events(|_| true)
    }

    /// Makes room for what is known of states that are new.
    fn grow(&mut self) -> Result<(), Limit> {
        let (states, memory) = (self.walk.graph.len(), &self.walk.graph.memory);
        self.colours.grow(states, Colour::White, memory)?;
        self.places.grow(states, 0, memory)
    }
}
