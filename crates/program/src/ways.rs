//! The transitions that processes come to.
//!
//! Automata have numbers for all statements of the text, also where no process ever is, and steps inside of a
//! `d_step` besides the one that it is. What can be shown of all steps is shown of these.

use crate::Program;
use crate::independence::{Analysis, Number};
use crate::ir::{Action, Automaton, StateId, Transition, TransitionId};
use crate::touches::Touches;

/// The transitions that processes of a body come to, with those inside of a `d_step`.
pub(crate) struct Ways<'p> {
    pub program: &'p Program,
    pub automaton: &'p Automaton,
    all: Vec<TransitionId>,
}

/// Where a process goes on after a transition, if it lives: into a `d_step` if it is one.
pub(crate) fn next(transition: &Transition) -> Option<StateId> {
    match transition.action {
        Action::Die => None,
        Action::DStep { entry } => Some(entry),
        _ => Some(transition.to),
    }
}

impl<'p> Ways<'p> {
    /// Of all bodies.
    pub fn of(analysis: &Analysis<'p>) -> Vec<Self> {
        let living = analysis.program.automata.iter().zip(&analysis.lives);
        living
            .map(|(automaton, life)| {
                let mut ways = Self { program: analysis.program, automaton, all: Vec::new() };
                if life.number > Number::None {
                    ways.walk();
                }
                ways
            })
            .collect()
    }

    fn walk(&mut self) {
        let mut seen = vec![false; self.automaton.states.len()];
        seen[usize::from(self.automaton.initial.0)] = true;
        let mut open = vec![self.automaton.initial];
        while let Some(state) = open.pop() {
            for id in self.automaton.state(state).transition_ids() {
                self.all.push(id);
                let to = next(self.program.transition(id));
                if let Some(to) = to.filter(|to| !seen[usize::from(to.0)]) {
                    seen[usize::from(to.0)] = true;
                    open.push(to);
                }
            }
        }
    }

    pub fn transitions(&self) -> impl Iterator<Item = (TransitionId, &'p Transition)> {
        self.all.iter().map(|&id| (id, self.program.transition(id)))
    }

    /// All but `d_step`s as a whole, with what they look at and change.
    pub fn steps(&self) -> impl Iterator<Item = (TransitionId, &'p Transition, Touches<'p>)> {
        let is_step = |transition: &Transition| !matches!(transition.action, Action::DStep { .. });
        self.transitions().filter(move |(_, step)| is_step(step)).map(|(id, step)| {
            let mut touches = Touches::default();
            touches.add(self.program, step);
            (id, step, touches)
        })
    }

    /// The transitions of a local state that processes come to.
    pub fn from(&self, state: StateId) -> impl Iterator<Item = (TransitionId, &'p Transition)> {
        let program = self.program;
        let ids = self.automaton.state(state).transition_ids();
        ids.map(move |id| (id, program.transition(id)))
    }

    /// The transitions after one of which a process is in a local state.
    pub fn to(&self, state: StateId) -> impl Iterator<Item = (TransitionId, &'p Transition)> {
        self.transitions().filter(move |(_, transition)| {
            transition.to == state || next(transition) == Some(state)
        })
    }

    /// The transition of a local state that has no other.
    pub fn only(&self, state: StateId) -> Option<(TransitionId, &'p Transition)> {
        let mut all = self.from(state);
        all.next().filter(|_| all.next().is_none())
    }

    /// Whether a process that is in a local state, and cannot take one of the steps there, only waits or
    /// takes another one that it could take anyway.
    pub fn only_waits(&self, state: StateId) -> bool {
        let mut steps = self.from(state);
        // In a `D_proctype` it is counted how many steps are possible.
        !self.automaton.deterministic
            && steps.all(|(_, step)| step.escape == 0 && !matches!(step.action, Action::Else))
            && !self.to(state).any(|(_, step)| step.atomic)
    }
}
