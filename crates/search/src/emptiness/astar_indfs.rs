//! A* to where a cycle may be an error, and there a nested depth-first search, for one set.
//!
//! *Idea* (Edelkamp, Lluch Lafuente, Leue, *Directed explicit-state model checking in the validation of
//! communication protocols*, 2004, section 7.3, *A\* and Improved-Nested-DFS*): in a component of the claim
//! in which no cycle is an error there is nothing to look for but a way out. There the state comes next for which the
//! length of the run so far and the estimate of what is to come are least. When this is a state of another component,
//! the search of [`super::indfs`] goes from it through that component; states that it meets beyond wait for A*, and if
//! it finds no cycle, A* goes on.
//!
//! *Invariant*: what was visited stays so, and a search of a component ends before A* goes on. So all searches of one component
//! are one depth-first search of it, as if from a state before those that A* has come to, one edge to each in that order;
//! a state is left after all that can be reached from it inside. This is what the second searches of [`super::indfs`]
//! count on, and it does not depend on any estimate: all states are visited in the end, in whatever order.
//!
//! A state is expanded but once, also if a shorter run to it is found then, since the run to a cycle is looked for
//! afterwards, among all states that were visited.
//!
//! *Cost*: that of [`super::indfs`], eight more bytes for each state, and eight for each time that one waits.

use spinward_guide::{Guide, Room, Way};
use spinward_machine::{Cycles, Marks, System};
use spinward_store::{Full, Store};

use super::degeneralized::{GuideOfSystem, has_one_set, with_one_set};
use super::graph::Graph;
use super::indfs::Indfs;
use super::lasso::Evidence;
use super::ndfs::Flags;
use super::walk::Taken;
use crate::chunked::Chunked;
use crate::directed::Range;
use crate::directed::open::{Open, Waiting};
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// Checks by A* to components of the claim in which a cycle may be an error, and nested depth-first search in there; also
/// tells the range of the estimates. Those guide it whose estimates depend on the state alone.
pub fn astar_indfs<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    guide: &dyn Guide,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let mut range = Range::of(0);
    let of_system = &GuideOfSystem(guide);
    let guide = if has_one_set(system) { guide } else { of_system };
    let start = Start { system, scratch, request, progress };
    let outcome = with_one_set(Guided { guide, range: &mut range }, start);
    (outcome, range)
}

/// Names the search.
struct Guided<'g> {
    guide: &'g dyn Guide,
    range: &'g mut Range,
}

impl Algorithm for Guided<'_> {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let mut search = AstarIndfs {
            open: Open::new(&memory),
            nested: Indfs::new(Graph::new(system, request, store, memory, watch.clock())),
            lengths: Chunked::new(),
            estimates: Chunked::new(),
            guide: self.guide,
            room: Room::default(),
            range: None,
        };
        let found = search.run(scratch, &mut watch);
        let AstarIndfs { nested, open, mut lengths, mut estimates, range, .. } = search;
        // The run to a cycle needs room.
        drop(open);
        lengths.release(&nested.walk.graph.memory);
        estimates.release(&nested.walk.graph.memory);
        *self.range = range.unwrap_or(*self.range);
        let Indfs { walk, flags, .. } = nested;
        let evidence = found.map(|found| found.map(Evidence::From));
        Ok(walk.conclude(scratch, watch, evidence, &|state| flags.has(state, Flags::VISITED)))
    }
}

struct AstarIndfs<'a, S, T> {
    nested: Indfs<'a, S, T>,
    open: Open,
    /// By state: the length of the shortest run known to it, [`UNKNOWN`] if it never waited.
    lengths: Chunked<u32>,
    /// By state that waited: how far it is, perhaps, from where a cycle may be an error.
    estimates: Chunked<u32>,
    guide: &'a dyn Guide,
    room: Room,
    range: Option<Range>,
}

const UNKNOWN: u32 = u32::MAX;

impl<S: System, T: Store> AstarIndfs<'_, S, T> {
    /// A state on a cycle that is an error, if there is one.
    fn run(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Stopped> {
        let initial = self.nested.walk.graph.initial()?;
        self.nested.walk.graph.counts.transitions = 1;
        self.nested.flags.grow(&self.nested.walk.graph)?;
        self.wait(initial, 0)?;
        while let Some(Waiting { number, length }) = self.open.pop() {
            if !self.nested.flags.has(number, Flags::VISITED) {
                let found = self.search_from(number, length, scratch, watch)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// Visits what can be reached from a state inside of its component, if a cycle may be an error there, or else only
    /// that state; lets those at the horizon wait. A state on a cycle that is an error, if one is found.
    fn search_from(
        &mut self,
        start: u32,
        length: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Stopped> {
        let (component, cycles) = self.nested.walk.graph.component(start);
        self.enter(start, length, Marks::default(), scratch, watch)?;
        while let Some(taken) = self.nested.walk.next()? {
            match taken {
                Taken::Edge { to, depth, marks } => {
                    if self.nested.closes(to) {
                        return Ok(Some(to));
                    }
                    let stays = self.nested.walk.graph.component(to).0 == component;
                    if self.nested.flags.has(to, Flags::VISITED) {
                        continue;
                    } else if stays && cycles != Cycles::Fine {
                        self.enter(to, depth, marks, scratch, watch)?;
                    } else {
                        self.wait(to, depth)?;
                    }
                }
                Taken::Left { state, .. } => {
                    let found = self.nested.leave(state, scratch, watch)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Visits a state. The stack does not lead to it from the initial state, so what is wrong there is noted by its
    /// number, also if a limit is hit.
    fn enter(
        &mut self,
        state: u32,
        length: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let opened = self.nested.walk.open(state, length, marks, scratch, watch);
        self.nested.flags.set(state, Flags::VISITED);
        self.nested.walk.meet_at(state)?;
        opened?;
        Ok(self.nested.enter(state)?)
    }

    /// A run of this length leads to a state that was not visited.
    fn wait(&mut self, state: u32, length: u32) -> Result<(), Limit> {
        let Self { nested, open, lengths, estimates, .. } = self;
        let graph = &mut nested.walk.graph;
        lengths.grow(graph.len(), UNKNOWN, &graph.memory)?;
        estimates.grow(graph.len(), 0, &graph.memory)?;
        let at = state as usize;
        let known = lengths.get(at);
        if known <= length && known != UNKNOWN {
            return Ok(());
        }
        if known == UNKNOWN && graph.component(state).1 == Cycles::Fine {
            let estimate = self.guide.estimate(graph.state(state), Way::default(), &mut self.room);
            self.range.get_or_insert(Range::of(estimate)).note(estimate);
            estimates.set(at, estimate);
        }
        lengths.set(at, length);
        let estimate = estimates.get(at);
        open.push(length.saturating_add(estimate), estimate, Waiting { number: state, length })
    }
}
