//! A nested depth-first search for any number of sets.
//!
//! *Idea* (Tauriainen, *Nested emptiness search for generalized Büchi automata*, 2003, as improved by
//! Couvreur, Duret-Lutz, Poitrenaud, SPIN 2005, section 4.2, *Tau03 opt*): each state has the sets that are known
//! to be met on a way to it from a state of the current run. When an edge was taken to its end, the sets of the
//! edge and of the state it comes from are told to where it leads, and from there on by second searches, to all
//! that do not know them. An edge to a state of the current run closes a cycle that meets the sets known of
//! both its ends and those of the edges of the run from there on; if these are all, it is an error.
//!
//! *Cost*: each state is expanded once, and once more for each time that it is told new sets, at most as often
//! as there are sets. Five bytes and the sets for each state; four for each set that an edge of the current run
//! is in.

use spinward_machine::{Marks, System};
use spinward_store::{Full, Store};

use super::graph::{Edge, Graph};
use super::lasso::Evidence;
use super::marked::MarksStack;
use super::se05::Colour;
use super::second::{Next, Second};
use super::walk::{Taken, Walk};
use crate::chunked::Chunked;
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// Checks by a nested depth-first search for any number of sets.
pub fn tau03<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    Start { system, scratch, request, progress }.run(Tauriainen)
}

/// Names the search.
struct Tauriainen;

impl Algorithm for Tauriainen {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let graph = Graph::new(system, request, store, memory, watch.clock());
        let mut search = Tau03 {
            told: Told::new(graph.wanted()),
            walk: Walk::new(graph),
            second: Second::new(),
        };
        let found = search.run(scratch, &mut watch);
        let Tau03 { walk, told, .. } = search;
        let evidence = found.map(|found| found.map(Evidence::From));
        let seen = |state| told.colours.get(state as usize) != Colour::White;
        Ok(walk.conclude(scratch, watch, evidence, &seen))
    }
}

/// What is known of states.
struct Told {
    wanted: Marks,
    colours: Chunked<Colour>,
    /// By state: the sets it was told.
    sets: MarksStack,
    /// By state of the current run: its place there.
    places: Chunked<u32>,
    /// By set: the places of those states of the current run that were entered by an edge in it.
    met: Vec<Chunked<u32>>,
}

impl Told {
    fn new(wanted: Marks) -> Self {
        let sets = u128::BITS - wanted.0.leading_zeros();
        Self {
            wanted,
            colours: Chunked::new(),
            sets: MarksStack::new(sets),
            places: Chunked::new(),
            met: (0..sets).map(|_| Chunked::new()).collect(),
        }
    }

    /// Makes room for what is known of states that are new.
    fn grow(&mut self, states: usize, memory: &Memory) -> Result<(), Limit> {
        self.colours.grow(states, Colour::White, memory)?;
        self.sets.grow(states, memory)?;
        self.places.grow(states, 0, memory)
    }

    /// Enters a state at a place of the current run, by an edge with these marks.
    fn enter(
        &mut self,
        state: u32,
        place: u32,
        marks: Marks,
        memory: &Memory,
    ) -> Result<(), Limit> {
        self.colours.set(state as usize, Colour::Cyan);
        self.places.set(state as usize, place);
        for (set, met) in self.met.iter_mut().enumerate() {
            if marks.has_any(Marks::one(set as u32)) {
                met.push(place, memory)?;
            }
        }
        Ok(())
    }

    /// Leaves a state that was entered by an edge with these marks.
    fn leave(&mut self, state: u32, marks: Marks) {
        self.colours.set(state as usize, Colour::Blue);
        for (set, met) in self.met.iter_mut().enumerate() {
            if marks.has_any(Marks::one(set as u32)) {
                met.pop();
            }
        }
    }

    /// The sets that the edges of the current run after a state of it are in.
    fn met_after(&self, state: u32) -> Marks {
        let place = self.places.get(state as usize);
        let sets =
            self.met.iter().enumerate().filter(|(_, met)| {
                met.len().checked_sub(1).is_some_and(|last| met.get(last) > place)
            });
        sets.fold(Marks::default(), |marks, (set, _)| marks.and(Marks::one(set as u32)))
    }

    /// Tells sets over an edge between two states.
    fn tell(&mut self, from: u32, to: u32, sets: Marks) -> Next {
        let (known, there) = (self.sets.get(from as usize), self.sets.get(to as usize));
        if self.colours.get(to as usize) == Colour::Cyan
            && known.and(sets).and(there).and(self.met_after(to)).has_all(self.wanted)
        {
            Next::Found
        } else if there.has_all(sets) {
            Next::Skip
        } else {
            self.sets.set(to as usize, there.and(sets));
            Next::Go
        }
    }
}

struct Tau03<'a, S, T> {
    walk: Walk<'a, S, T>,
    told: Told,
    second: Second,
}

impl<S: System, T: Store> Tau03<'_, S, T> {
    /// A state on a cycle that meets all sets, if there is one.
    fn run(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Stopped> {
        self.walk.begin()?;
        self.grow()?;
        while let Some(taken) = self.walk.next()? {
            let (to, marks) = match taken {
                Taken::Edge { to, depth, marks } => {
                    if self.told.colours.get(to as usize) == Colour::White {
                        let place = self.walk.run_length() as u32;
                        self.walk.open(to, depth, marks, scratch, watch)?;
                        self.grow()?;
                        self.told.enter(to, place, marks, &self.walk.graph.memory)?;
                        self.walk.push_events(|_| true)?;
                        continue;
                    }
                    (to, marks)
                }
                Taken::Left { state, marks } => {
                    self.told.leave(state, marks);
                    (state, marks)
                }
            };
            let Some(from) = self.walk.top() else { continue };
            let found = self.spread(from, to, marks, scratch, watch)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Tells the sets known of a state, and those of an edge from it, to where that leads and from there on.
    fn spread(
        &mut self,
        from: u32,
        to: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Limit> {
        let told = &mut self.told;
        let sets = told.sets.get(from as usize).and(marks);
        match told.tell(from, to, sets) {
            Next::Found => Ok(Some(to)),
            Next::Skip => Ok(None),
            Next::Go => {
                let judge = |_: &Graph<'_, S, T>, from: u32, edge: Edge| {
                    if told.colours.get(edge.to as usize) == Colour::White {
                        return Ok(Next::Skip);
                    }
                    Ok(told.tell(from, edge.to, sets))
                };
                self.second.search(&mut self.walk.graph, to, scratch, watch, judge)
            }
        }
    }

    fn grow(&mut self) -> Result<(), Limit> {
        self.told.grow(self.walk.graph.len(), &self.walk.graph.memory)
    }
}
