//! A short run to a cycle, and round it.
//!
//! *Idea* (Couvreur, Duret-Lutz, Poitrenaud, *On-the-fly emptiness checks for generalized Büchi automata*,
//! SPIN 2005, section 5): the shortest way to a component that meets all sets; from there inside of the
//! component always the shortest way to an edge that is in a set not met yet; then the shortest way back.
//! Checks that know no component but only a state from which a wrong cycle can be reached have one found
//! here, by the search of `scc.rs` among the states seen.
//!
//! *Cost*: states seen are expanded again, once for the way to the component, and those of the component once
//! for each set and for the way back.

use spinward_machine::{Marks, System, Violation};
use spinward_store::Store;

use super::chain::{Chain, Standing};
use super::graph::{Event, Graph};
use super::marked::MarksStack;
use super::nearest::{Hop, Nearest};
use crate::chunked::Chunked;
use crate::dfs::Entry;
use crate::limits::Limit;
use crate::outcome::Found;
use crate::rebuild::{Goal, Order, follow};

/// What a check knows of the cycle that it has found.
#[derive(Clone, Copy)]
pub(crate) enum Evidence<'c> {
    /// It is in the last component of a chain, which meets all sets.
    Component(&'c Chain),
    /// It can be reached from this state, over states that were seen.
    From(u32),
    /// It is among these states, which are strongly connected, and must meet these sets.
    Region { inside: &'c dyn Fn(u32) -> bool, wanted: Marks },
}

/// A run to a state, and from there back to it.
#[derive(Clone, Debug)]
pub(crate) struct Lasso {
    pub prefix: Vec<Hop>,
    pub cycle: Vec<Hop>,
}

impl Lasso {
    /// How many steps it has.
    pub fn length(&self) -> u32 {
        let lengths = self.prefix.iter().chain(&self.cycle).map(|hop| hop.length);
        lengths.fold(0, u32::saturating_add)
    }

    /// Its steps.
    pub fn found<S: System, T: Store>(
        &self,
        graph: &mut Graph<'_, S, T>,
        scratch: &mut S::Scratch,
        shortest: bool,
    ) -> Found {
        let system = graph.system;
        let mut steps_along = |cycle: &[Hop]| {
            let goals = goals(graph, self.prefix.iter().chain(cycle));
            follow(system, scratch, goals, Order::Whole, false).steps
        };
        let cycle = steps_along(&[]).len();
        let steps = system.tell(steps_along(&self.cycle), Violation::Cycle);
        Found { violation: Violation::Cycle, steps, cycle: Some(cycle), occurrences: 1, shortest }
    }
}

/// What a run along these edges comes to.
pub(crate) fn goals<'h, S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    hops: impl Iterator<Item = &'h Hop>,
) -> impl Iterator<Item = Goal> {
    hops.map(|hop| Goal::Edge(graph.key(hop.to), hop.marks, hop.length))
}

/// A short run to the cycle and round it, over states that were seen; none if there is no such cycle.
pub(crate) fn lasso<S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    scratch: &mut S::Scratch,
    seen: &dyn Fn(u32) -> bool,
    evidence: Evidence<'_>,
) -> Result<Option<Lasso>, Limit> {
    match evidence {
        Evidence::Component(chain) => {
            through(graph, scratch, seen, &|state| chain.is_inside(state), graph.wanted())
        }
        Evidence::From(state) => match component(graph, scratch, seen, state)? {
            Some(chain) => {
                through(graph, scratch, seen, &|state| chain.is_inside(state), graph.wanted())
            }
            None => Ok(None),
        },
        Evidence::Region { inside, wanted } => through(graph, scratch, seen, inside, wanted),
    }
}

/// A component that meets all sets and can be reached from a state: the last of the chain.
fn component<S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    scratch: &mut S::Scratch,
    seen: &dyn Fn(u32) -> bool,
    start: u32,
) -> Result<Option<Chain>, Limit> {
    let mut chain = Chain::new(graph.wanted());
    chain.grow(graph.len(), &graph.memory)?;
    let mut stack = Chunked::new();
    let mut waiting = MarksStack::new(graph.system.sets().unwrap_or(0));
    stack.push(Entry { state: start, depth: 0 }, &graph.memory)?;
    waiting.push(Marks::default(), &graph.memory)?;
    while let Some(entry) = stack.pop() {
        let (state, marks) = (entry.state, waiting.pop());
        if entry.is_open() {
            chain.leave(state);
            continue;
        }
        match chain.standing(state) {
            Standing::Dead => {}
            Standing::Live => {
                if chain.merge(state, marks).complete {
                    stack.release(&graph.memory);
                    waiting.release(&graph.memory);
                    return Ok(Some(chain));
                }
            }
            Standing::New => {
                chain.enter(state, marks, &graph.memory)?;
                stack.push(entry.open(), &graph.memory)?;
                waiting.push(marks, &graph.memory)?;
                graph.expand(state, scratch)?;
                for &event in graph.events.iter().rev() {
                    if let Event::Edge(edge) = event
                        && seen(edge.to)
                    {
                        stack.push(Entry { state: edge.to, depth: 0 }, &graph.memory)?;
                        waiting.push(edge.marks, &graph.memory)?;
                    }
                }
            }
        }
    }
    Ok(None)
}

/// A short run to some states that are strongly connected, and among them through all sets.
fn through<S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    scratch: &mut S::Scratch,
    seen: &dyn Fn(u32) -> bool,
    inside: &dyn Fn(u32) -> bool,
    wanted: Marks,
) -> Result<Option<Lasso>, Limit> {
    let mut nearest = Nearest::new();
    let result = ways(graph, scratch, seen, inside, wanted, &mut nearest);
    nearest.release(&graph.memory);
    result
}

fn ways<S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    scratch: &mut S::Scratch,
    seen: &dyn Fn(u32) -> bool,
    inside: &dyn Fn(u32) -> bool,
    wanted: Marks,
    nearest: &mut Nearest,
) -> Result<Option<Lasso>, Limit> {
    let mut lasso = Lasso { prefix: Vec::new(), cycle: Vec::new() };
    let mut first = 0;
    if !inside(first) {
        let way = nearest.search(graph, scratch, first, seen, &|edge| inside(edge.to))?;
        let Some(way) = way else { return Ok(None) };
        first = way.last().map_or(first, |hop| hop.to);
        lasso.prefix = way;
    }
    let mut missing = wanted;
    let mut at = first;
    while missing != Marks::default() || at != first || lasso.cycle.is_empty() {
        let way = if missing == Marks::default() {
            nearest.search(graph, scratch, at, inside, &|edge| edge.to == first)?
        } else {
            nearest.search(graph, scratch, at, inside, &|edge| edge.marks.has_any(missing))?
        };
        let Some(way) = way else { return Ok(None) };
        if let Some(last) = way.last() {
            missing = missing.without(last.marks);
            at = last.to;
        }
        lasso.cycle.extend(way);
    }
    Ok(Some(lasso))
}
