//! Strongly connected components: Couvreur's check, for any number of sets.
//!
//! *Idea*: a depth-first search keeps the components that it knows of in a chain (`chain.rs`); an edge back
//! makes several of them one, and as soon as one meets all sets a cycle is found (Couvreur, *On-the-fly
//! verification of linear temporal logic*, 1999; Couvreur, Duret-Lutz, Poitrenaud, *On-the-fly emptiness checks
//! for generalized Büchi automata*, SPIN 2005, figure 2).
//!
//! In which order the edges are taken makes no difference to the answer, but to when it is found: [`Order`]
//! has those of section 4.1 there.
//!
//! *Cost*: every state is expanded once, every edge is taken once.

use std::marker::PhantomData;

use spinward_machine::{Marks, System};
use spinward_store::{Full, Store};

use super::chain::{Chain, Standing};
use super::graph::{Event, Graph};
use super::lasso::Evidence;
use super::walk::{Taken, Walk};
use crate::chunked::Chunked;
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// In which order edges are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As the system tells them: the check computes one at a time as far as counts go.
    #[default]
    Told,
    /// Of each state first those to states that were visited (`shy-` in the paper).
    VisitedFirst,
    /// Of all states of the last component first those to states that were visited (`shy` in the paper).
    WholeComponent,
}

/// Checks by strongly connected components.
pub fn scc<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    ordered(system, scratch, request, Order::Told, progress)
}

/// Checks by strongly connected components; edges are taken in the order said.
pub fn ordered<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    order: Order,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let start = Start { system, scratch, request, progress };
    match order {
        Order::Told => start.run(Couvreur::<Told>(PhantomData)),
        Order::VisitedFirst => start.run(Couvreur::<VisitedFirst>(PhantomData)),
        Order::WholeComponent => start.run(Couvreur::<WholeComponent>(PhantomData)),
    }
}

/// Names the search.
struct Couvreur<O>(PhantomData<O>);

/// Names an order.
trait Named {
    const ORDER: Order;
}

enum Told {}
enum VisitedFirst {}
enum WholeComponent {}

impl Named for Told {
    const ORDER: Order = Order::Told;
}

impl Named for VisitedFirst {
    const ORDER: Order = Order::VisitedFirst;
}

impl Named for WholeComponent {
    const ORDER: Order = Order::WholeComponent;
}

impl<O: Named> Algorithm for Couvreur<O> {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let graph = Graph::new(system, request, store, memory, watch.clock());
        let chain = Chain::new(graph.wanted());
        let mut search = Scc {
            order: O::ORDER,
            walk: Walk::new(graph),
            chain,
            starts: Chunked::new(),
            credit: 0,
        };
        let found = match O::ORDER {
            Order::Told | Order::VisitedFirst => search.run(scratch, &mut watch),
            Order::WholeComponent => search.run_by_component(scratch, &mut watch),
        };
        let Scc { walk, chain, .. } = search;
        let evidence = found.map(|found| found.then_some(Evidence::Component(&chain)));
        let seen = |state| chain.standing(state) != Standing::New;
        Ok(walk.conclude(scratch, watch, evidence, &seen))
    }
}

struct Scc<'a, S, T> {
    order: Order,
    walk: Walk<'a, S, T>,
    chain: Chain,
    /// By component, if its edges wait together: how many entries of the stack are those of others.
    starts: Chunked<usize>,
    /// How many entries may be looked at again: some for each edge taken, so that this takes no more time than
    /// the rest.
    credit: usize,
}

impl<S: System, T: Store> Scc<'_, S, T> {
    /// Entries that may be looked at again for each edge taken.
    const CREDIT: usize = 4;

    /// Whether there is a cycle that meets all sets.
    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<bool, Stopped> {
        self.walk.begin()?;
        self.grow()?;
        while let Some(taken) = self.walk.next()? {
            match taken {
                Taken::Left { state, .. } => self.chain.leave(state),
                Taken::Edge { to, depth, marks } => match self.chain.standing(to) {
                    Standing::Dead => {}
                    Standing::Live => {
                        if self.chain.merge(to, marks).complete {
                            return Ok(true);
                        }
                    }
                    Standing::New => {
                        if self.enter(to, depth, marks, scratch, watch)? {
                            return Ok(true);
                        }
                    }
                },
            }
        }
        Ok(false)
    }

    /// Enters a state; whether an edge of it to a state that was visited closes a cycle that meets all sets.
    fn enter(
        &mut self,
        state: u32,
        depth: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<bool, Limit> {
        self.walk.open(state, depth, marks, scratch, watch)?;
        self.grow()?;
        self.chain.enter(state, marks, &self.walk.graph.memory)?;
        if self.order == Order::Told {
            self.walk.push_events(|_| true)?;
            return Ok(false);
        }
        if self.take_visited().1 {
            return Ok(true);
        }
        let chain = &self.chain;
        self.walk.push_events(|edge| chain.standing(edge.to) == Standing::New)?;
        Ok(false)
    }

    /// Takes those edges of the state expanded last that lead to states that were visited: how many components
    /// fewer there are, and whether one meets all sets now.
    fn take_visited(&mut self) -> (usize, bool) {
        let mut fewer = 0;
        for &event in self.walk.graph.events.iter() {
            let Event::Edge(edge) = event else { continue };
            let standing = self.chain.standing(edge.to);
            if standing != Standing::New {
                self.walk.graph.counts.transitions += 1;
            }
            if standing == Standing::Live {
                let merged = self.chain.merge(edge.to, edge.marks);
                fewer += merged.fewer;
                if merged.complete {
                    return (fewer, true);
                }
            }
        }
        (fewer, false)
    }

    /// The same with all edges of a component in one place: those above its start on the stack. There is no
    /// current run then.
    fn run_by_component(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<bool, Stopped> {
        self.walk.begin()?;
        self.grow()?;
        while let Some(taken) = self.next_of_component()? {
            let Taken::Edge { to, depth, marks } = taken else { continue };
            let merged = match self.chain.standing(to) {
                Standing::Dead => 0,
                Standing::Live => {
                    let merged = self.chain.merge(to, marks);
                    if merged.complete {
                        return Ok(true);
                    }
                    merged.fewer
                }
                Standing::New => {
                    let memory = &self.walk.graph.memory;
                    self.chain.enter(to, marks, memory)?;
                    self.starts.push(self.walk.entries(), memory)?;
                    let expanded = self.walk.expand(to, depth, scratch, watch);
                    self.walk.meet_at(to)?;
                    expanded?;
                    self.grow()?;
                    let (fewer, complete) = self.take_visited();
                    if complete {
                        return Ok(true);
                    }
                    let chain = &self.chain;
                    self.walk.push_events(|edge| chain.standing(edge.to) == Standing::New)?;
                    fewer
                }
            };
            if merged > 0 && self.merge_starts(merged) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next edge of the last component that has any.
    fn next_of_component(&mut self) -> Result<Option<Taken>, Stopped> {
        self.credit += Self::CREDIT;
        while !self.chain.is_empty() && self.walk.entries() == self.start() {
            self.chain.close(|_| {});
            self.starts.pop();
        }
        self.walk.next()
    }

    fn start(&self) -> usize {
        self.starts.get(self.starts.len() - 1)
    }

    /// Puts the edges of components that became one together, and takes those among them that lead to states
    /// visited meanwhile; whether a component meets all sets then.
    fn merge_starts(&mut self, mut merged: usize) -> bool {
        while merged > 0 {
            for _ in 0..merged {
                self.starts.pop();
            }
            merged = 0;
            let (start, end) = (self.start(), self.walk.entries());
            if end - start > self.credit {
                return false;
            }
            self.credit -= end - start;
            let mut kept = start;
            for index in start..end {
                let (state, marks) = self.walk.entry(index);
                match self.chain.standing(state) {
                    Standing::New => {
                        self.walk.move_entry(index, kept);
                        kept += 1;
                    }
                    Standing::Dead => self.walk.graph.counts.transitions += 1,
                    Standing::Live => {
                        self.walk.graph.counts.transitions += 1;
                        let more = self.chain.merge(state, marks);
                        merged += more.fewer;
                        if more.complete {
                            return true;
                        }
                    }
                }
            }
            self.walk.drop_entries(kept);
        }
        false
    }

    /// Makes room for what is known of states that are new.
    fn grow(&mut self) -> Result<(), Limit> {
        let graph = &self.walk.graph;
        self.chain.grow(graph.len(), &graph.memory)
    }
}
