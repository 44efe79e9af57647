//! How far processes are from waiting for each other.
//!
//! *Idea*: in a deadlock each process is in a dangerous state, in which nothing it could do is possible. For each
//! process the nearest such state counts: the steps to get there, and those until all its statements are
//! impossible; then processes are added up (Edelkamp, Lluch Lafuente and Leue 2004, section 4, *characterization
//! of deadlocks*). Dangerous are all states in which a process may have to wait, or in a process with labels
//! `danger...` there those only. A label where nobody ever waits marks nothing, which is told.
//!
//! *Properties*: not admissible: processes are not independent, and a step may make many statements impossible.
//!
//! *Cost*: for each process and each of its dangerous states the guards there. More than [`MAX_DANGERS`] of these
//! in a process do not count one by one: then the nearest is taken, and whether its process can move.

use spinward_machine::{Look, Machine, Sight, System};
use spinward_program::blocking::{marked, may_block};
use spinward_program::distances::{Distances, NO_WAY};
use spinward_program::ir::{Action, Automaton, Expr, StateId, TransitionId};
use spinward_program::rates::is_fixed;

use crate::active::for_deadlocks;
use crate::term::{Mix, Term, Terms};
use crate::{Entry, Guide, NEVER, Room, Subject, Way};

const NAME: &str = "deadlock";

/// Dangerous states of a process that are looked at one by one.
const MAX_DANGERS: usize = 32;

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "how far each process is from waiting for others; labels danger... say where",
    argument: None,
    admissible: false,
    consistent: false,
    build: |subject, _| {
        for_deadlocks(NAME, subject)?;
        Ok(Box::new(Deadlock::new(subject)))
    },
};

struct Deadlock<'m> {
    machine: &'m Machine,
    /// By body.
    bodies: Vec<Dangers>,
    notes: Vec<String>,
}

/// Where a process may wait for others.
struct Dangers {
    states: Vec<Danger>,
    /// To the nearest of all of them, if they are many, and to where it is gone.
    nearest: Distances,
}

/// A dangerous state.
struct Danger {
    distances: Distances,
    /// All its statements become impossible.
    blocked: Vec<Blocked>,
}

/// That a statement becomes impossible.
enum Blocked {
    /// Because its guard is false.
    Guard(Term),
    /// Because of something that is known only when the process is there: who is ready for a rendezvous, which
    /// channel it is.
    Seen(TransitionId),
}

impl<'m> Deadlock<'m> {
    fn new(subject: &Subject<'m>) -> Self {
        let program = &**subject.machine.program();
        let mut notes = Vec::new();
        let bodies = program.automata.iter();
        let bodies = bodies.map(|automaton| Dangers::of(subject, automaton, &mut notes)).collect();
        Self { machine: subject.machine, bodies, notes }
    }
}

impl Dangers {
    fn of(subject: &Subject<'_>, automaton: &Automaton, notes: &mut Vec<String>) -> Self {
        let program = &**subject.machine.program();
        let mut states = Vec::new();
        for (label, state) in marked(automaton) {
            if may_block(program, automaton, state) {
                states.push(state);
            } else {
                notes.push(format!(
                    "the guide '{NAME}' does not count on the label '{label}' of {}: nobody ever waits there",
                    automaton.name
                ));
            }
        }
        if states.is_empty() {
            let all = (1..automaton.states.len()).map(|state| StateId(state as u16));
            states = all
                .filter(|&it| automaton.state(it).reachable && may_block(program, automaton, it))
                .collect();
        }
        let is_one = |state: StateId| state == StateId(0) || states.contains(&state);
        let nearest = Distances::new(program, |of, at| of == automaton.body && is_one(at));
        if states.len() > MAX_DANGERS {
            states.clear();
        }
        let states = states.into_iter().map(|state| Danger {
            distances: Distances::new(program, |of, at| of == automaton.body && at == state),
            blocked: blocked(subject, automaton, state),
        });
        Self { states: states.collect(), nearest }
    }
}

fn blocked(subject: &Subject<'_>, automaton: &Automaton, state: StateId) -> Vec<Blocked> {
    let program = &**subject.machine.program();
    let terms = Terms { program, body: Some(automaton.body), mix: Mix::Sum };
    let ids = automaton.state(state).transition_ids();
    ids.map(|id| match &program.transition(id).action {
        Action::Send { channel, .. } | Action::Receive { channel, .. }
            if !is_fixed(program, channel) || is_rendezvous(subject, channel) =>
        {
            Blocked::Seen(id)
        }
        Action::Die | Action::DStep { .. } => Blocked::Seen(id),
        action => Blocked::Guard(terms.impossible(action)),
    })
    .collect()
}

fn is_rendezvous(subject: &Subject<'_>, channel: &Expr) -> bool {
    let mut initial = Vec::new();
    subject.machine.initial(&mut initial);
    let mut sight = Sight::default();
    let look = subject.machine.look(&initial, &mut sight);
    look.messages(channel, None).is_none_or(|(_, room)| room == 0)
}

impl Danger {
    fn estimate(&self, look: &Look<'_>, process: usize) -> u32 {
        let (body, at) = look.process(process);
        let distance = self.distances.own(body, at);
        if distance == NO_WAY {
            return NEVER;
        }
        self.blocked.iter().fold(distance, |all, blocked| {
            let steps = match blocked {
                Blocked::Guard(term) => term.estimate(look, Some(process), Mix::Sum),
                Blocked::Seen(id) if distance == 0 => u32::from(look.is_possible(process, *id)),
                Blocked::Seen(_) => 0,
            };
            all.saturating_add(steps)
        })
    }
}

impl Guide for Deadlock<'_> {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        let Room { sight, movers, .. } = room;
        let look = self.machine.look(state, sight);
        let mut sum: u32 = 0;
        for process in 0..look.processes() {
            let (body, at) = look.process(process);
            let dangers = &self.bodies[body.0 as usize];
            let blocked = dangers.states.iter().map(|danger| danger.estimate(&look, process)).min();
            let steps = blocked.unwrap_or_else(|| dangers.nearest.own(body, at));
            sum = sum.saturating_add(steps.min(NEVER / 256));
        }
        if sum == 0 {
            look.movers(movers);
            sum = movers.iter().filter(|&&can| can).count() as u32;
        }
        sum
    }
}
