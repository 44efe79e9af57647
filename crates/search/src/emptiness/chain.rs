//! Components that grow together.
//!
//! *Idea*: of the states of a depth-first search those are *live* whose component is not complete. They are
//! kept in the order in which they were met, cut into the components known so far, which form a chain: an edge
//! leads from each to the next. An edge back to a live state closes a cycle, so all components from that of
//! the state on are one; the marks of its edges, and of those between the components, are then marks inside
//! it (Couvreur, *On-the-fly verification of linear temporal logic*, 1999; the states of a component are on
//! one stack as in Gabow's version of Tarjan's search, so that they need not be searched again).
//!
//! *Invariant*: the live states from a root up to the next one are a strongly connected part of the graph, and
//! the marks `within` are those of all edges looked at inside of it.
//!
//! *Cost*: four bytes for each state, four more for each live one; for each component of the chain four
//! bytes and its marks twice.

use spinward_machine::Marks;

use super::marked::MarksStack;
use crate::chunked::Chunked;
use crate::limits::{Limit, Memory};

/// Where a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Not entered yet.
    New,
    /// In a component of the chain.
    Live,
    /// In a component that is complete, and no error.
    Dead,
}

/// What an edge back has done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merged {
    /// How many components fewer there are.
    pub fewer: usize,
    /// Whether the last one meets all sets now.
    pub complete: bool,
}

/// The components that are not complete.
#[derive(Debug)]
pub(crate) struct Chain {
    wanted: Marks,
    /// By state: its place among the live ones, or one of the numbers below.
    places: Chunked<u32>,
    live: Chunked<u32>,
    /// By component: the place of its first state.
    roots: Chunked<u32>,
    /// By component: the marks inside of it.
    within: MarksStack,
    /// By component: the marks of the edge that led there.
    into: MarksStack,
}

impl Chain {
    const NEW: u32 = u32::MAX;
    const DEAD: u32 = u32::MAX - 1;

    /// An empty one; a component must meet these sets.
    pub fn new(wanted: Marks) -> Self {
        let sets = u128::BITS - wanted.0.leading_zeros();
        Self {
            wanted,
            places: Chunked::new(),
            live: Chunked::new(),
            roots: Chunked::new(),
            within: MarksStack::new(sets),
            into: MarksStack::new(sets),
        }
    }

    /// To be called when there are so many states.
    pub fn grow(&mut self, states: usize, memory: &Memory) -> Result<(), Limit> {
        self.places.grow(states, Self::NEW, memory)
    }

    /// Where a state is; if it came after the last [`grow`](Chain::grow), it is new.
    pub fn standing(&self, state: u32) -> Standing {
        if state as usize >= self.places.len() {
            return Standing::New;
        }
        match self.places.get(state as usize) {
            Self::NEW => Standing::New,
            Self::DEAD => Standing::Dead,
            _ => Standing::Live,
        }
    }

    /// Whether there are no components.
    pub fn is_empty(&self) -> bool {
        self.roots.len() == 0
    }

    /// Enters a state by an edge with these marks: it is a component of its own for now.
    pub fn enter(&mut self, state: u32, marks: Marks, memory: &Memory) -> Result<(), Limit> {
        let place = self.live.len() as u32;
        self.live.push(state, memory)?;
        self.roots.push(place, memory)?;
        self.within.push(Marks::default(), memory)?;
        self.into.push(marks, memory)?;
        self.places.set(state as usize, place);
        Ok(())
    }

    /// Takes an edge from the last component to a live state.
    pub fn merge(&mut self, state: u32, marks: Marks) -> Merged {
        let place = self.places.get(state as usize);
        let (mut marks, mut fewer) = (marks, 0);
        while self.root() > place {
            self.roots.pop();
            marks = marks.and(self.within.pop()).and(self.into.pop());
            fewer += 1;
        }
        let last = self.roots.len() - 1;
        let all = self.within.get(last).and(marks);
        self.within.set(last, all);
        Merged { fewer, complete: all.has_all(self.wanted) }
    }

    /// Leaves a state: if it is the first of its component, that is complete.
    pub fn leave(&mut self, state: u32) {
        if self.is_first(state) {
            self.close(|_| {});
        }
    }

    /// Whether a state is the first of the last component.
    pub fn is_first(&self, state: u32) -> bool {
        self.places.get(state as usize) == self.root()
    }

    /// The marks inside of the last component.
    pub fn marks(&self) -> Marks {
        self.within.get(self.roots.len() - 1)
    }

    /// As if a state that is dead had never been entered.
    pub fn forget(&mut self, state: u32) {
        self.places.set(state as usize, Self::NEW);
    }

    /// Whether the last component meets all sets.
    pub fn is_complete(&self) -> bool {
        self.marks().has_all(self.wanted)
    }

    /// Takes the last component away, and tells its states: all their edges were taken.
    pub fn close(&mut self, mut told: impl FnMut(u32)) {
        let root = self.root() as usize;
        while self.live.len() > root
            && let Some(state) = self.live.pop()
        {
            self.places.set(state as usize, Self::DEAD);
            told(state);
        }
        self.roots.pop();
        self.within.pop();
        self.into.pop();
    }

    /// Whether a state is in the last component.
    pub fn is_inside(&self, state: u32) -> bool {
        self.standing(state) == Standing::Live && self.places.get(state as usize) >= self.root()
    }

    /// The place of the first state of the last component.
    fn root(&self) -> u32 {
        self.roots.get(self.roots.len() - 1)
    }
}
