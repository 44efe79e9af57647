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
//! *Cost*: none in states; the edges of a state are told when all of them are known.

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
}

/// Room to work in.
#[derive(Debug)]
pub struct FairScratch<T> {
    inner: T,
    edges: Vec<Edge>,
    states: Vec<u8>,
    steps: Vec<Step>,
}

/// An edge that waits until all of its state are known.
#[derive(Debug)]
struct Edge {
    bytes: usize,
    steps: usize,
    marks: Marks,
    moved: u128,
}

/// Collects the edges of a state.
struct Collector<'a> {
    edges: &'a mut Vec<Edge>,
    states: &'a mut Vec<u8>,
    steps: &'a mut Vec<Step>,
    /// Who could be the next to move.
    can_move: u128,
    most: u32,
    /// Whether there are more processes than can be told apart.
    too_many: bool,
    sink: &'a mut dyn Sink,
}

impl Collector<'_> {
    fn bit(&mut self, step: Step) -> u128 {
        let number = u32::from(step.process);
        self.too_many |= number >= self.most;
        1u128.checked_shl(number).unwrap_or(0)
    }
}

impl Sink for Collector<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.marked(state, steps, Marks::default())
    }

    fn marked(&mut self, state: &[u8], steps: &[Step], marks: Marks) -> Flow {
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
        self.states.extend_from_slice(state);
        self.steps.extend_from_slice(steps);
        self.edges.push(Edge { bytes: state.len(), steps: steps.len(), marks, moved });
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.sink.violation(violation, steps)
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let edges = self.edges.capacity() * size_of::<Edge>();
        let steps = self.steps.capacity() * size_of::<Step>();
        self.sink.working(bytes + edges + steps + self.states.capacity())
    }
}

impl<S: System> System for Fair<'_, S> {
    type Scratch = FairScratch<S::Scratch>;

    fn scratch(&self) -> Self::Scratch {
        FairScratch {
            inner: self.inner.scratch(),
            edges: Vec::new(),
            states: Vec::new(),
            steps: Vec::new(),
        }
    }

    fn absorb(&self, scratch: &mut Self::Scratch, other: Self::Scratch) {
        self.inner.absorb(&mut scratch.inner, other.inner);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.inner.initial(out);
    }

    fn expand(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut dyn Sink) -> Flow {
        let FairScratch { inner, edges, states, steps } = scratch;
        edges.clear();
        states.clear();
        steps.clear();
        let most = self.most_processes();
        let mut all = Collector { edges, states, steps, can_move: 0, most, too_many: false, sink };
        self.inner.expand(state, inner, &mut all)?;
        let Collector { edges, states, steps, can_move, too_many, sink, .. } = all;
        if too_many {
            return sink.violation(Violation::TooManyForFairness, &[]);
        }
        let (mut states, mut steps) = (states.as_slice(), steps.as_slice());
        for edge in edges.iter() {
            let (state, later_states) = states.split_at(edge.bytes);
            let (taken, later_steps) = steps.split_at(edge.steps);
            (states, steps) = (later_states, later_steps);
            sink.marked(state, taken, self.marks(edge.marks, edge.moved, can_move))?;
        }
        Flow::Continue(())
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
