//! Runs that are fair to all processes.
//!
//! *Idea*: weak fairness is one more set of edges for each process (a generalized Büchi condition: Couvreur,
//! Duret-Lutz, Poitrenaud, *On-the-fly emptiness checks for generalized Büchi automata*, 2005): those in which
//! the process moves, and those that leave a state in which it cannot. A run is fair if it meets each of these
//! again and again: nobody who could always move is left waiting for ever. Strong fairness takes two sets for
//! each process, one that [asks](System::pairs) and one that answers: if the process can move again and again, it
//! must move again and again.
//!
//! Who counts: each process that is alive, by its number. One that has ended, or that is not there yet, cannot
//! move, so that nothing is asked of it. Both sides of a rendezvous move; each of them can only while the other
//! is ready. A process can move if it could be the next to move; inside of an atomic sequence of another it
//! waits, and is not asked. A run that has ended is fair.
//!
//! *Cost*: none in states; the edges of a state are told when all of them are known, also where one process moves alone.

use std::ops::ControlFlow;

use crate::system::{Cycles, Flow, Marks, Sink, Step, System};
use crate::violation::Violation;

/// To whom runs are fair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// To whoever can move always, from some time on.
    Weak,
    /// To whoever can move again and again.
    Strong,
}

/// A system of which only fair runs are judged.
#[derive(Debug)]
pub struct Fair<'s, S> {
    inner: &'s S,
    fairness: Fairness,
    /// The first of the sets for processes.
    first: u32,
}

impl<'s, S: System> Fair<'s, S> {
    /// A system with marks.
    pub fn new(inner: &'s S, fairness: Fairness) -> Self {
        Self { inner, fairness, first: inner.sets().unwrap_or(0) }
    }

    /// How many processes can be told apart.
    pub fn most_processes(&self) -> u32 {
        match self.fairness {
            Fairness::Weak => Marks::MOST - self.first,
            // One is left for who looks for cycles.
            Fairness::Strong => (Marks::MOST - 1 - self.first) / 2,
        }
    }

    /// The marks of an edge by which some processes move, from a state in which some can.
    fn marks(&self, marks: Marks, moved: u128, can_move: u128) -> Marks {
        let all = Marks::first(self.most_processes()).0;
        let fair = match self.fairness {
            Fairness::Weak => (moved | !can_move) & all,
            Fairness::Strong => can_move & all | (moved & all) << self.most_processes(),
        };
        marks.and(Marks(fair << self.first))
    }

    fn movers(&self) -> Movers {
        Movers { most: self.most_processes(), ..Movers::default() }
    }

    /// Tells edges of a state, now that it is known who can move there.
    fn tell(&self, edges: &Edges, movers: &Movers, sink: &mut dyn Sink) -> Flow {
        if movers.too_many {
            return sink.violation(Violation::TooManyForFairness, &[]);
        }
        let (mut states, mut steps) = (edges.states.as_slice(), edges.steps.as_slice());
        for edge in &edges.all {
            let (state, later_states) = states.split_at(edge.bytes);
            let (taken, later_steps) = steps.split_at(edge.steps);
            (states, steps) = (later_states, later_steps);
            sink.marked(state, taken, self.marks(edge.marks, edge.moved, movers.can_move))?;
        }
        Flow::Continue(())
    }
}

/// Room to work in.
#[derive(Debug)]
pub struct FairScratch<T> {
    inner: T,
    edges: Edges,
}

impl<T> FairScratch<T> {
    /// What the system itself collected.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// The edges of a state, that wait until it is known who can move.
#[derive(Debug, Default)]
struct Edges {
    all: Vec<Edge>,
    states: Vec<u8>,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Edge {
    bytes: usize,
    steps: usize,
    marks: Marks,
    moved: u128,
}

impl Edges {
    fn clear(&mut self) {
        self.all.clear();
        self.states.clear();
        self.steps.clear();
    }

    fn memory(&self) -> usize {
        let edges = self.all.capacity() * size_of::<Edge>();
        edges + self.steps.capacity() * size_of::<Step>() + self.states.capacity()
    }
}

/// Who can move in a state.
#[derive(Debug, Default)]
struct Movers {
    can_move: u128,
    /// How many processes can be told apart, and whether there are more.
    most: u32,
    too_many: bool,
}

impl Movers {
    fn bit(&mut self, step: Step) -> u128 {
        let number = u32::from(step.process);
        self.too_many |= number >= self.most;
        1u128.checked_shl(number).unwrap_or(0)
    }

    /// Notes who could be the next to move by these steps; who moves.
    fn note(&mut self, steps: &[Step]) -> u128 {
        let mut moved = 0;
        let mut first = None;
        for (number, &step) in steps.iter().filter(|step| !step.is_claim()).enumerate() {
            let bit = self.bit(step);
            moved |= bit;
            // A process that goes on after the first step of another one has answered it: elsewhere only a
            // rendezvous lets another process move in the midst of an atomic sequence.
            if number == 0 || number == 1 && first != Some(step.process) {
                self.can_move |= bit;
            }
            first = first.or(Some(step.process));
        }
        moved
    }
}

/// Collects edges of a state.
struct Collector<'a> {
    edges: &'a mut Edges,
    movers: &'a mut Movers,
    sink: &'a mut dyn Sink,
}

impl Sink for Collector<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.marked(state, steps, Marks::default())
    }

    fn marked(&mut self, state: &[u8], steps: &[Step], marks: Marks) -> Flow {
        let moved = self.movers.note(steps);
        self.edges.states.extend_from_slice(state);
        self.edges.steps.extend_from_slice(steps);
        self.edges.all.push(Edge { bytes: state.len(), steps: steps.len(), marks, moved });
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.movers.note(steps);
        self.sink.violation(violation, steps)
    }

    fn endless(&mut self, steps: &[Step]) {
        self.movers.note(steps);
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes + self.edges.memory())
    }
}

/// Sees who can move, and tells nobody where to.
struct Onlooker<'a> {
    movers: &'a mut Movers,
    /// Who counts memory.
    sink: &'a mut dyn Sink,
}

impl Sink for Onlooker<'_> {
    fn successor(&mut self, _: &[u8], steps: &[Step]) -> Flow {
        self.movers.note(steps);
        Flow::Continue(())
    }

    fn violation(&mut self, _: Violation, steps: &[Step]) -> Flow {
        self.movers.note(steps);
        Flow::Continue(())
    }

    fn endless(&mut self, steps: &[Step]) {
        self.movers.note(steps);
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes)
    }
}

impl<S: System> System for Fair<'_, S> {
    type Scratch = FairScratch<S::Scratch>;

    fn scratch(&self) -> Self::Scratch {
        FairScratch { inner: self.inner.scratch(), edges: Edges::default() }
    }

    fn absorb(&self, scratch: &mut Self::Scratch, other: Self::Scratch) {
        self.inner.absorb(&mut scratch.inner, other.inner);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.inner.initial(out);
    }

    fn names(&self) -> Vec<u8> {
        self.inner.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.inner.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut dyn Sink) -> Flow {
        let FairScratch { inner, edges } = scratch;
        edges.clear();
        let mut movers = self.movers();
        let mut all = Collector { edges, movers: &mut movers, sink };
        self.inner.expand(state, inner, &mut all)?;
        self.tell(edges, &movers, sink)
    }

    fn reduces(&self) -> bool {
        self.inner.reduces()
    }

    fn alone(&self, state: &[u8], from: usize, ever: bool) -> Option<usize> {
        self.inner.alone(state, from, ever)
    }

    fn expand_alone(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut Self::Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        let FairScratch { inner, edges } = scratch;
        edges.clear();
        let mut movers = self.movers();
        let mut own = Collector { edges, movers: &mut movers, sink };
        if !self.inner.expand_alone(state, actor, inner, &mut own)? {
            return ControlFlow::Continue(false);
        }
        // The others are left out, not what they could do.
        self.inner.expand(state, inner, &mut Onlooker { movers: &mut movers, sink })?;
        self.tell(edges, &movers, sink)?;
        ControlFlow::Continue(true)
    }

    fn sets(&self) -> Option<u32> {
        self.inner.sets()?;
        Some(match self.fairness {
            Fairness::Weak => Marks::MOST,
            Fairness::Strong => self.first,
        })
    }

    fn pairs(&self) -> u32 {
        match self.fairness {
            Fairness::Weak => 0,
            Fairness::Strong => self.most_processes(),
        }
    }

    fn component(&self, state: &[u8]) -> (u32, Cycles) {
        match self.inner.component(state) {
            // It must be fair too.
            (number, Cycles::Wrong) => (number, Cycles::Judged),
            fine => fine,
        }
    }

    fn layout(&self, state: &[u8]) -> u32 {
        self.inner.layout(state)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.inner.key(state)
    }
}
