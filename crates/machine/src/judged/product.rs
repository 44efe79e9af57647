//! An automaton that follows a run.
//!
//! *Idea*: the automata-theoretic approach (Vardi and Wolper, 1986; Holzmann, *The SPIN Model Checker*,
//! chapter 6). The automaton accepts what must not be, so that a run it accepts is an error. It moves in
//! step with the system: an edge of the product is a move of the system, an atomic sequence counting as one, and
//! an edge of the automaton whose label holds in the state that is left. When nobody can move, the last state
//! is repeated for ever for the automaton. A run for which it has no edge is of no interest.
//!
//! Where the automaton comes to a state in which it accepts all that may come, the run so far is an error
//! ([`Violation::ClaimEnd`]): this is how a safety property is violated, and needs no cycle.
//!
//! *Cost*: two bytes a state for the automaton. The successors of a state of the system are found once, however
//! many edges the automaton has.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use spinward_property::components::Components;
use spinward_property::{Automaton, Edge};

use crate::Machine;
use crate::explore::Scratch;
use crate::memory::{load_u16, store_u16};
use crate::system::{Cycles, Flow, Marks, Sink, Step, System};
use crate::violation::Violation;

/// Bytes of the automaton's state, behind those of the system.
const AUTOMATON: usize = 2;

/// An automaton that can follow runs of a machine.
#[derive(Clone, Debug)]
pub struct Follower {
    automaton: Automaton,
    /// By state of the automaton.
    components: Vec<(u32, Cycles)>,
    /// By state of the automaton: whether it accepts all that may come.
    ends: Vec<bool>,
    /// Whether the automaton goes on when nobody can move.
    stutters: bool,
}

impl Follower {
    /// An automaton whose atoms are, by their number, the conditions that a machine
    /// [watches](crate::Options::watched). It may go on when nobody can move.
    ///
    /// Searches go where it accepts first: it leaves components as soon as it can, and takes edges with marks. To
    /// stay where it waits for something, while the whole of the system is looked at, can be tried later.
    pub fn new(mut automaton: Automaton, stutters: bool) -> Self {
        let found = Components::of(&automaton);
        let components = super::classified(&found);
        for (state, edges) in automaton.states.iter_mut().enumerate() {
            let stays = |edge: &Edge| components[edge.to as usize].0 == components[state].0;
            edges.sort_by_key(|edge| (stays(edge), Reverse(edge.marks.count_ones())));
        }
        Self { automaton, components, ends: found.universal, stutters }
    }

    /// The automaton.
    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// Whether it accepts all that may come, once it is in a state.
    pub fn ends(&self, state: usize) -> bool {
        self.ends[state]
    }

    /// Whether there is a state in which it does.
    pub fn has_ends(&self) -> bool {
        self.ends.contains(&true)
    }

    /// The same automaton with another first state.
    pub fn starting_in(&self, state: u32) -> Self {
        let automaton = Automaton { initial: state, ..self.automaton.clone() };
        Self { automaton, ..self.clone() }
    }

    /// Whether no cycle need be looked for: it accepts only by coming to an end.
    pub fn is_terminal(&self) -> bool {
        self.components
            .iter()
            .zip(&self.ends)
            .all(|(&(_, cycles), &end)| end || cycles == Cycles::Fine)
    }
}

/// A machine with an automaton that follows its runs.
#[derive(Debug)]
pub struct Product<'m> {
    machine: &'m Machine,
    follower: &'m Follower,
}

/// Room to work in.
#[derive(Debug)]
pub struct ProductScratch {
    machine: Scratch,
    /// Where the automaton may go, with the marks of its edges.
    ways: Vec<(u16, Marks)>,
    waiting: Waiting,
}

impl ProductScratch {
    /// What the machine collected.
    pub fn machine(&self) -> &Scratch {
        &self.machine
    }
}

impl<'m> Product<'m> {
    /// A machine without a claim, and who follows its runs.
    pub fn new(machine: &'m Machine, follower: &'m Follower) -> Self {
        Self { machine, follower }
    }

    fn split<'s>(&self, state: &'s [u8]) -> (&'s [u8], usize) {
        let (system, automaton) = state.split_at(state.len() - AUTOMATON);
        (system, usize::from(load_u16(automaton, 0)))
    }

    /// Where the automaton may go from a state, unless something is wrong there already; whether it may go
    /// anywhere.
    fn find_ways(
        &self,
        system: &[u8],
        at: usize,
        scratch: &mut Scratch,
        ways: &mut Vec<(u16, Marks)>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        ways.clear();
        let Follower { automaton, ends, .. } = self.follower;
        if ends[at] {
            sink.violation(Violation::ClaimEnd, &[])?;
            return ControlFlow::Continue(false);
        }
        let values = match self.machine.watched_values(system, scratch) {
            Ok(values) => values,
            Err(violation) => {
                sink.violation(violation, &[])?;
                return ControlFlow::Continue(false);
            }
        };
        for edge in &automaton.states[at] {
            if edge.label.holds(values) {
                if ends[edge.to as usize] {
                    sink.violation(Violation::ClaimEnd, &[])?;
                } else {
                    ways.push((edge.to as u16, Marks(edge.marks.into())));
                }
            }
        }
        ControlFlow::Continue(!ways.is_empty())
    }
}

/// Successors of a state that are to be told once more, for other ways of the automaton.
#[derive(Debug, Default)]
struct Waiting {
    /// Of each, where its state and its steps end.
    ends: Vec<(usize, usize)>,
    /// States of the product, with any state of the automaton.
    states: Vec<u8>,
    steps: Vec<Step>,
}

impl Waiting {
    fn clear(&mut self) {
        self.ends.clear();
        self.states.clear();
        self.steps.clear();
    }

    fn memory(&self) -> usize {
        let ends = self.ends.capacity() * size_of::<(usize, usize)>();
        ends + self.states.capacity() + self.steps.capacity() * size_of::<Step>()
    }
}

/// Tells each successor of the system once for each way of the automaton: as in SPIN, where the claim moves first,
/// all successors for one way and then all for the next.
struct Fork<'a> {
    ways: &'a [(u16, Marks)],
    waiting: &'a mut Waiting,
    /// Whether somebody moved, or went wrong.
    any: bool,
    sink: &'a mut dyn Sink,
}

impl<'a> Fork<'a> {
    fn new(ways: &'a [(u16, Marks)], waiting: &'a mut Waiting, sink: &'a mut dyn Sink) -> Self {
        waiting.clear();
        Self { ways, waiting, any: false, sink }
    }

    /// Tells what waits, now that all successors are known.
    fn finish(self) -> Flow {
        let Waiting { ends, states, steps } = self.waiting;
        for &(to, marks) in self.ways.iter().skip(1) {
            let (mut state, mut step) = (0, 0);
            for &(state_end, step_end) in ends.iter() {
                store_u16(states, state_end - AUTOMATON, to);
                self.sink.marked(&states[state..state_end], &steps[step..step_end], marks)?;
                (state, step) = (state_end, step_end);
            }
        }
        Flow::Continue(())
    }
}

impl Sink for Fork<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.any = true;
        let Waiting { ends, states, steps: all_steps } = &mut *self.waiting;
        let Some((&(to, marks), others)) = self.ways.split_first() else {
            return Flow::Continue(());
        };
        let first = states.len();
        states.extend_from_slice(state);
        states.resize(first + state.len() + AUTOMATON, 0);
        store_u16(states, first + state.len(), to);
        self.sink.marked(&states[first..], steps, marks)?;
        if others.is_empty() {
            states.clear();
        } else {
            all_steps.extend_from_slice(steps);
            ends.push((states.len(), all_steps.len()));
        }
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.any |= !steps.is_empty();
        self.sink.violation(violation, steps)
    }

    fn endless(&mut self, steps: &[Step]) {
        self.any = true;
        self.sink.endless(steps);
    }

    fn needs_steps(&self) -> bool {
        self.sink.needs_steps()
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes + self.waiting.memory())
    }
}

impl System for Product<'_> {
    type Scratch = ProductScratch;

    fn scratch(&self) -> ProductScratch {
        let machine = self.machine.scratch();
        ProductScratch { machine, ways: Vec::new(), waiting: Waiting::default() }
    }

    fn absorb(&self, scratch: &mut ProductScratch, other: ProductScratch) {
        self.machine.absorb(&mut scratch.machine, other.machine);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.machine.initial(out);
        let at = out.len();
        out.resize(at + AUTOMATON, 0);
        store_u16(out, at, self.follower.automaton.initial as u16);
    }

    fn names(&self) -> Vec<u8> {
        self.machine.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.machine.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut ProductScratch, sink: &mut dyn Sink) -> Flow {
        let (system, at) = self.split(state);
        let ProductScratch { machine, ways, waiting } = scratch;
        if !self.find_ways(system, at, machine, ways, sink)? {
            return Flow::Continue(());
        }
        let mut fork = Fork::new(ways, waiting, sink);
        self.machine.expand(system, machine, &mut fork)?;
        if !fork.any && self.follower.stutters {
            fork.successor(system, &[])?;
        }
        fork.finish()
    }

    fn reduces(&self) -> bool {
        self.machine.reduces()
    }

    fn alone(&self, state: &[u8], from: usize, ever: bool) -> Option<usize> {
        self.machine.alone(self.split(state).0, from, ever)
    }

    fn expand_alone(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut ProductScratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        let (system, at) = self.split(state);
        let ProductScratch { machine, ways, waiting } = scratch;
        if !self.find_ways(system, at, machine, ways, sink)? {
            return ControlFlow::Continue(true);
        }
        let mut fork = Fork::new(ways, waiting, sink);
        let moved = self.machine.expand_alone(system, actor, machine, &mut fork)?;
        fork.finish()?;
        ControlFlow::Continue(moved)
    }

    fn sets(&self) -> Option<u32> {
        Some(self.follower.automaton.sets)
    }

    fn component(&self, state: &[u8]) -> (u32, Cycles) {
        self.follower.components[self.split(state).1]
    }

    fn layout(&self, state: &[u8]) -> u32 {
        self.machine.layout(state)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.machine.lasting_key(state)
    }
}
