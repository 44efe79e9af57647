//! Runs that come through places labelled `accept` again and again.
//!
//! As in SPIN's verifier, the place of a never claim counts, and that of each process. A state counts for the
//! edges that leave it; places that are passed inside of an atomic sequence are those of no state. When nobody can
//! move, the last state is repeated for ever, as it is for a claim, which sees to that itself.

use std::ops::ControlFlow;

use spinward_program::Program;
use spinward_program::ir::{BodyId, StateId, Transition, TransitionId};
use spinward_property::components::Components;
use spinward_property::{Automaton, Edge, Label};

use crate::Machine;
use crate::explore::Scratch;
use crate::memory::load_u16;
use crate::system::{Cycles, Flow, Marks, Sink, Step, System};
use crate::violation::Violation;

/// The machine with edges marked that come from a place labelled `accept`.
#[derive(Debug)]
pub struct Labelled<'m> {
    machine: &'m Machine,
    /// By body and local state: whether it is labelled.
    labels: Vec<Vec<bool>>,
    /// Whether some process has a label.
    in_processes: bool,
    /// By local state of the claim: its component, if only the claim has labels.
    components: Vec<(u32, Cycles)>,
}

impl<'m> Labelled<'m> {
    /// A machine, and the claim it has, if any.
    pub fn new(machine: &'m Machine) -> Self {
        let program = machine.program();
        let claim = machine.options().claim;
        let labels: Vec<Vec<bool>> = program
            .automata
            .iter()
            .map(|automaton| automaton.states.iter().map(|state| state.accept).collect())
            .collect();
        let bodies = program.automata.iter().zip(&labels);
        let is_process =
            |body: BodyId| !program.claims.contains(&body) && program.trace != Some(body);
        let in_processes = bodies
            .filter(|(automaton, _)| is_process(automaton.body))
            .any(|(_, labels)| labels.contains(&true));
        let components = match claim {
            Some(claim) if !in_processes => claim_automaton(program, claim)
                .map(|automaton| super::classified(&Components::of(&automaton)))
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        Self { machine, labels, in_processes, components }
    }

    fn is_labelled(&self, body: BodyId, state: StateId) -> bool {
        self.labels[body.0 as usize][usize::from(state.0)]
    }

    /// Whether the claim, or a process, is at a label in a state.
    fn rests_at_label(&self, state: &[u8], scratch: &mut Scratch) -> bool {
        let Machine { header, options, .. } = self.machine;
        if let (Some(at), Some(claim)) = (header.claim, options.claim)
            && self.is_labelled(claim, StateId(load_u16(state, at)))
        {
            return true;
        }
        self.in_processes
            && self.machine.shape_in(state, scratch).processes.iter().any(|process| {
                self.is_labelled(process.kind, StateId(load_u16(state, process.offset)))
            })
    }

    /// What a state gives all of its edges.
    fn marks(&self, state: &[u8], scratch: &mut Scratch) -> Marks {
        if self.rests_at_label(state, scratch) { Marks::one(0) } else { Marks::default() }
    }
}

/// Who tells edges with their marks.
struct Marking<'a> {
    /// What the state gives all of its edges.
    marks: Marks,
    /// Whether somebody moved, or went wrong.
    any: bool,
    sink: &'a mut dyn Sink,
}

impl Sink for Marking<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.any = true;
        self.sink.marked(state, steps, self.marks)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.any |= !steps.is_empty();
        self.sink.violation(violation, steps)
    }

    fn endless(&mut self, steps: &[Step]) {
        self.any = true;
        self.sink.endless(steps);
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes)
    }
}

/// Who looks where the last steps to a state begin.
struct LastSteps<'a> {
    labelled: &'a Labelled<'a>,
    key: &'a [u8],
    /// Whether one of them begins at a label.
    found: bool,
}

impl Sink for LastSteps<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let machine = self.labelled.machine;
        let Some(last) = steps.last().filter(|step| !step.is_claim()) else {
            return Flow::Continue(());
        };
        let &Transition { body, from, .. } = machine.program().transition(last.transition);
        self.found =
            machine.lasting_key(state) == self.key && self.labelled.is_labelled(body, from);
        if self.found { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        Flow::Continue(())
    }
}

impl System for Labelled<'_> {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        self.machine.scratch()
    }

    fn absorb(&self, scratch: &mut Scratch, other: Scratch) {
        self.machine.absorb(scratch, other);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.machine.initial(out);
    }

    fn names(&self) -> Vec<u8> {
        self.machine.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.machine.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut Scratch, sink: &mut dyn Sink) -> Flow {
        let marks = self.marks(state, scratch);
        let mut marking = Marking { marks, any: false, sink };
        self.machine.expand(state, scratch, &mut marking)?;
        if !marking.any && marks != Marks::default() && self.machine.options().claim.is_none() {
            marking.sink.marked(state, &[], marks)?;
        }
        Flow::Continue(())
    }

    fn reduces(&self) -> bool {
        self.machine.reduces()
    }

    fn alone(&self, state: &[u8], from: usize, ever: bool) -> Option<usize> {
        self.machine.alone(state, from, ever)
    }

    fn expand_alone(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        let marks = self.marks(state, scratch);
        let mut marking = Marking { marks, any: false, sink };
        self.machine.expand_alone(state, actor, scratch, &mut marking)
    }

    fn sets(&self) -> Option<u32> {
        Some(1)
    }

    fn component(&self, state: &[u8]) -> (u32, Cycles) {
        let known = self
            .machine
            .header
            .claim
            .and_then(|at| self.components.get(usize::from(load_u16(state, at))));
        known.copied().unwrap_or((0, Cycles::Judged))
    }

    fn ends_at_mark(&self, from: &[u8], key: &[u8], scratch: &mut Scratch) -> bool {
        let mut last = LastSteps { labelled: self, key, found: false };
        self.in_processes && self.machine.expand(from, scratch, &mut last).is_break() && last.found
    }

    fn layout(&self, state: &[u8]) -> u32 {
        self.machine.layout(state)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.machine.lasting_key(state)
    }
}

/// A claim, by local state and transition, with those in the one set that leave a label; what it asks for is left open. Its
/// strongly connected components tell which cycles come through labels (Edelkamp, Lluch Lafuente, Leue, *Directed
/// explicit-state model checking*, section 7.1). None if not all of its local states are those of states.
pub fn claim_automaton(program: &Program, claim: BodyId) -> Option<Automaton> {
    let claim = program.automaton(claim);
    let transitions = || claim.states.iter().flat_map(|state| state.transition_ids());
    if transitions().any(|id| program.transition(id).atomic) {
        return None;
    }
    let edge = |id: TransitionId| {
        let Transition { from, to, .. } = program.transition(id);
        let marks = u64::from(claim.state(*from).accept);
        Edge { to: to.0.into(), marks, label: Label::truth() }
    };
    let states = claim.states.iter().map(|state| state.transition_ids().map(edge).collect());
    let initial = u32::from(claim.initial.0);
    Some(Automaton { atoms: 0, sets: 1, initial, states: states.collect() })
}
