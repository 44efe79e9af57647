//! How far processes are, in their automata, from where something goes wrong.
//!
//! *Idea*: only where processes are is looked at, not at any variable (Edelkamp, Lluch Lafuente and Leue 2004,
//! section 4; the FSM distance of Edelkamp and Mehler, *Directed C++ program verification*, 2003). For an
//! assertion the nearest process counts; for an invalid end state all processes do, as each must come to where it
//! can wait: `fsm` takes the one that is farthest, `fsm-sum` adds them up. A condition that does not speak of
//! where processes are counts as one step.
//!
//! If an error state is known, from a trail, each process is to come to where it is there (Edelkamp, Lluch Lafuente and
//! Leue, *Trail-directed model checking*, 2001, where the sum is the FSM distance of two states). A process that is
//! still to be created has the whole way before it, and one that is gone there goes to its end.
//!
//! *Properties*: both are admissible and consistent. A step is made by one process, and a rendezvous counts as two
//! steps, so that a sum over processes never is too much. With a trail neither holds: another error state may be
//! nearer than its last one.
//!
//! *Cost*: a table for each assertion, or for each process of a trail's last state; a look into it for each process.

use spinward_machine::Machine;
use spinward_program::distances::{Distances, NO_WAY};
use spinward_program::ir::{BodyId, StateId};

use crate::goals::Goals;
use crate::term::{Mix, Term};
use crate::{Entry, Guide, Misfit, Room, Subject, TRAIL, Target, Way};

pub const MAX: Entry = Entry {
    name: "fsm",
    idea: "from where processes are; of several the farthest",
    argument: Some(TRAIL),
    admissible: true,
    consistent: true,
    build: |subject, trail| build(subject, "fsm", trail, Mix::Max),
};

pub const SUM: Entry = Entry {
    name: "fsm-sum",
    idea: "from where processes are; of several the sum",
    argument: Some(TRAIL),
    admissible: true,
    consistent: true,
    build: |subject, trail| build(subject, "fsm-sum", trail, Mix::Sum),
};

fn build<'m>(
    subject: &Subject<'m>,
    guide: &'static str,
    trail: Option<&str>,
    mix: Mix,
) -> Result<Box<dyn Guide + 'm>, Misfit> {
    match (trail, subject.target) {
        (None, _) => Ok(Box::new(Fsm::new(subject, mix))),
        (Some(_), Some(target)) => Ok(Box::new(Toward::new(subject.machine, target, mix))),
        (Some(_), None) => {
            let why = "needs a run to the state to come to".into();
            Err(Misfit::Property { guide, why })
        }
    }
}

struct Fsm<'m> {
    goals: Goals<'m>,
    mix: Mix,
}

impl<'m> Fsm<'m> {
    fn new(subject: &Subject<'m>, mix: Mix) -> Self {
        let mut goals = Goals::new(subject, Mix::Max);
        goals.points.iter_mut().for_each(|point| point.wrong = Term::Known(true));
        Self { goals, mix }
    }
}

impl Guide for Fsm<'_> {
    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        let Room { sight, movers, .. } = room;
        let look = self.goals.machine.look(state, sight);
        let nearest = self.goals.to_condition(&look, state, Mix::Max);
        let nearest = nearest.min(self.goals.to_assertion(&look, Mix::Max));
        if nearest == 0 {
            return 0;
        }
        let nearest = nearest.min(self.goals.to_event(&look));
        nearest.min(self.goals.to_end(&look, self.mix, movers, 0))
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        true
    }
}

/// To where all processes are in a state.
struct Toward<'m> {
    machine: &'m Machine,
    places: Vec<Place>,
    /// To the end of a process.
    gone: Distances,
    mix: Mix,
}

/// Where a process is to come to.
struct Place {
    body: BodyId,
    distances: Distances,
}

impl<'m> Toward<'m> {
    fn new(machine: &'m Machine, target: &Target, mix: Mix) -> Self {
        let program = machine.program();
        let places = target.places.iter().map(|&(body, place)| Place {
            body,
            distances: Distances::new(program, |of, at| (of, at) == (body, place)),
        });
        let places = places.collect();
        let gone = Distances::new(program, |_, at| at == StateId(0));
        Self { machine, places, gone, mix }
    }

    /// The steps of a process. If there is no way another one has to take its place, which counts as more than any
    /// way.
    fn steps(&self, distances: &Distances, body: BodyId, at: StateId) -> u32 {
        match distances.own(body, at) {
            NO_WAY => self.machine.program().automaton(body).states.len() as u32,
            steps => steps,
        }
    }
}

impl Guide for Toward<'_> {
    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        let look = self.machine.look(state, &mut room.sight);
        let alive = look.processes();
        let processes = 0..alive.max(self.places.len());
        let steps = processes.map(|number| {
            let here = (number < alive).then(|| look.process(number));
            match (here, self.places.get(number)) {
                (Some((body, at)), Some(place)) if body == place.body => {
                    self.steps(&place.distances, body, at)
                }
                (Some((body, at)), _) => self.steps(&self.gone, body, at),
                (None, Some(Place { body, distances })) => {
                    let start = self.machine.program().automaton(*body).initial;
                    self.steps(distances, *body, start).saturating_add(1)
                }
                (None, None) => 0,
            }
        });
        steps.fold(0, |all, steps| self.mix.of(all, steps))
    }
}
