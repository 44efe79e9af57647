//! What can go wrong, as far as it is known how far away that is.

use spinward_machine::{Look, Machine};
use spinward_program::blocking::may_block;
use spinward_program::distances::{Distances, NO_WAY};
use spinward_program::ir::{Action, BodyId, BodyKind, StateId, Transition};
use spinward_program::touches::each_step;
use spinward_property::{Cube, Label};

use crate::term::{Mix, Term, Terms};
use crate::{NEVER, Subject};

/// All that can go wrong.
#[derive(Debug)]
pub struct Goals<'m> {
    pub machine: &'m Machine,
    /// Assertions.
    pub points: Vec<Point>,
    /// Sends and receives, if a trace allows only some.
    pub events: Option<Distances>,
    /// Where processes wait or are gone, if an invalid end state is an error.
    pub ends: Option<Distances>,
    /// Conditions that must hold in every state become false.
    pub invariants: Vec<Term>,
    /// By state of the automaton that follows runs: how it leaves that state.
    pub exits: Option<Vec<Term>>,
    /// Whether there is a never claim, of which nothing is known.
    pub claim: bool,
}

/// A statement where something is wrong if a condition holds.
#[derive(Debug)]
pub struct Point {
    pub body: BodyId,
    /// To the local state before it.
    pub distances: Distances,
    /// What makes it wrong, as its process sees it.
    pub wrong: Term,
}

/// More assertions than these are not told apart.
const MAX_POINTS: usize = 64;

impl<'m> Goals<'m> {
    /// Of a subject.
    pub fn new(subject: &Subject<'m>, mix: Mix) -> Self {
        let machine = subject.machine;
        let (program, options) = (&**machine.program(), machine.options());
        let terms = Terms { program, body: None, mix };
        let condition = |number: &u32| &program.conditions[*number as usize].expr;
        let exits = subject.follower.map(|follower| {
            let automaton = follower.automaton();
            let states = automaton.states.iter().enumerate();
            let exits = states.map(|(state, edges)| {
                if follower.ends(state) {
                    return Term::Known(true);
                }
                let edges = edges.iter().filter(|edge| edge.to as usize != state);
                Term::Any(edges.map(|edge| holds(subject, &terms, &edge.label)).collect())
            });
            exits.collect()
        });
        let traced = options.trace && program.trace.is_some();
        let is_event = |transition: &Transition| {
            let mut any = false;
            each_step(program, transition, |step| {
                any |= matches!(step.action, Action::Send { .. } | Action::Receive { .. });
            });
            any
        };
        Self {
            machine,
            points: if options.assertions { points(subject, mix) } else { Vec::new() },
            events: traced.then(|| Distances::new(program, leaves(subject, is_event))),
            ends: options.end_states.then(|| {
                Distances::new(program, |body, state| {
                    state == StateId(0) || may_block(program, program.automaton(body), state)
                })
            }),
            invariants: options
                .invariants
                .iter()
                .map(|it| terms.of(condition(it), false))
                .collect(),
            exits,
            claim: options.claim.is_some(),
        }
    }

    /// Whether something is asked of the model, besides that it does not end anywhere.
    pub fn has_properties(&self) -> bool {
        !self.points.is_empty() || !self.invariants.is_empty() || self.exits.is_some()
    }

    /// How far an assertion that is false is.
    pub fn to_assertion(&self, look: &Look<'_>, mix: Mix) -> u32 {
        let mut nearest = NEVER;
        for process in 0..look.processes() {
            let (body, at) = look.process(process);
            for point in &self.points {
                let own = if body == point.body { point.distances.own(body, at) } else { NO_WAY };
                let mut steps = point.distances.created(body, at);
                if own < nearest && own < steps {
                    let wrong = point.wrong.estimate(look, Some(process), mix);
                    steps = steps.min(mix.of(own, wrong));
                }
                nearest = nearest.min(steps.saturating_add(1));
            }
        }
        nearest
    }

    /// How far the next event is that a trace may not allow.
    pub fn to_event(&self, look: &Look<'_>) -> u32 {
        let Some(distances) = &self.events else {
            return NEVER;
        };
        let processes = (0..look.processes()).map(|it| look.process(it));
        let steps = processes.map(|(body, at)| distances.any(body, at)).min();
        steps.unwrap_or(NEVER).saturating_add(1)
    }

    /// How far the next state is in which nobody can move. Who cannot wait where it is must make steps of its own
    /// until it can; as each step is made by one process, and a rendezvous is two, these add up. What is not more than a known number may
    /// be less.
    pub fn to_end(&self, look: &Look<'_>, mix: Mix, movers: &mut Vec<bool>, known: u32) -> u32 {
        let Some(distances) = &self.ends else {
            return NEVER;
        };
        let processes = (0..look.processes()).map(|it| look.process(it));
        let steps = processes.fold(0, |all, (body, at)| mix.of(all, distances.own(body, at)));
        // To ask who can move takes long.
        if steps > 0 || known > 0 {
            return steps;
        }
        look.movers(movers);
        u32::from(movers.contains(&true))
    }

    /// How far the next state is in which an invariant does not hold, or the automaton gets any further.
    pub fn to_condition(&self, look: &Look<'_>, state: &[u8], mix: Mix) -> u32 {
        if self.claim {
            return 0;
        }
        let exit = self.exits.as_ref().and_then(|exits| exits.get(follower_state(state)));
        let terms = self.invariants.iter().chain(exit);
        terms.map(|term| term.estimate(look, None, mix)).min().unwrap_or(NEVER)
    }
}

/// That the label of an edge of the automaton that follows runs holds.
pub fn holds(subject: &Subject<'_>, terms: &Terms<'_>, label: &Label) -> Term {
    let watched = &subject.machine.options().watched;
    let cube = |cube: &Cube| {
        let atoms = (0..).zip(watched).filter(|(atom, _)| cube.atoms() & 1 << atom != 0);
        let literal = |(atom, &number): (u32, &u32)| {
            let condition = &terms.program.conditions[number as usize].expr;
            terms.of(condition, cube.positive & 1 << atom != 0)
        };
        terms.all(atoms.map(literal).collect())
    };
    Term::Any(label.cubes().iter().map(cube).collect())
}

/// The state of an automaton that follows runs: the last two bytes.
pub fn follower_state(state: &[u8]) -> usize {
    let bytes = state.last_chunk().copied().unwrap_or_default();
    usize::from(u16::from_le_bytes(bytes))
}

/// Whether a local state is left by such a transition.
pub fn leaves(
    subject: &Subject<'_>,
    is_such: impl Fn(&Transition) -> bool,
) -> impl Fn(BodyId, StateId) -> bool {
    let program = subject.machine.program().clone();
    move |body, state| {
        let mut transitions = program.automaton(body).state(state).transition_ids();
        transitions.any(|id| is_such(program.transition(id)))
    }
}

fn points(subject: &Subject<'_>, mix: Mix) -> Vec<Point> {
    let program = &**subject.machine.program();
    let is_process =
        |body| matches!(program.automaton(body).kind, BodyKind::Proctype | BodyKind::Init);
    let mut points = Vec::new();
    for transition in program.transitions.iter().filter(|it| is_process(it.body)) {
        let mut asserts = false;
        each_step(program, transition, |step| asserts |= matches!(step.action, Action::Assert(_)));
        if !asserts {
            continue;
        }
        let &Transition { body, from, .. } = transition;
        let wrong = match &transition.action {
            Action::Assert(condition) => {
                Terms { program, body: Some(body), mix }.of(condition, false)
            }
            // Inside of a `d_step` much may happen before.
            _ => Term::Known(true),
        };
        if !matches!(wrong, Term::Known(false)) {
            points.push((body, from, wrong));
        }
    }
    if points.len() > MAX_POINTS {
        // One for each body, at the nearest of its assertions.
        let mut merged: Vec<Point> = Vec::new();
        for (body, ..) in &points {
            if merged.iter().all(|it| it.body != *body) {
                let is_one =
                    |of, at| of == *body && points.iter().any(|it| (it.0, it.1) == (of, at));
                let distances = Distances::new(program, is_one);
                merged.push(Point { body: *body, distances, wrong: Term::Known(true) });
            }
        }
        return merged;
    }
    let point = |(body, from, wrong)| Point {
        body,
        distances: Distances::new(program, |of, at| (of, at) == (body, from)),
        wrong,
    };
    points.into_iter().map(point).collect()
}
