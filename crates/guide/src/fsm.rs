//! How far processes are, in their automata, from where something goes wrong.
//!
//! *Idea*: only where processes are is looked at, not at any variable (Edelkamp, Lluch Lafuente and Leue 2004,
//! section 4; the FSM distance of Edelkamp and Mehler, *Directed C++ program verification*, 2003). For an
//! assertion the nearest process counts; for an invalid end state all processes do, as each must come to where it
//! can wait: `fsm` takes the one that is farthest, `fsm-sum` adds them up. A condition that does not speak of
//! where processes are counts as one step.
//!
//! *Properties*: both are admissible and consistent. A step is made by one process, and a rendezvous counts as two
//! steps, so that a sum over processes never is too much.
//!
//! *Cost*: a table for each assertion, a look into it for each process.

use crate::goals::Goals;
use crate::term::{Mix, Term};
use crate::{Entry, Guide, Room, Subject, Way};

pub const MAX: Entry = Entry {
    name: "fsm",
    idea: "from where processes are; of several the farthest",
    argument: None,
    admissible: true,
    consistent: true,
    build: |subject, _| Ok(Box::new(Fsm::new(subject, Mix::Max))),
};

pub const SUM: Entry = Entry {
    name: "fsm-sum",
    idea: "from where processes are; of several the sum",
    argument: None,
    admissible: true,
    consistent: true,
    build: |subject, _| Ok(Box::new(Fsm::new(subject, Mix::Sum))),
};

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
        let Room { sight, movers } = room;
        let look = self.goals.machine.look(state, sight);
        let nearest = self.goals.to_condition(&look, state, Mix::Max);
        let nearest = nearest.min(self.goals.to_assertion(&look, Mix::Max));
        if nearest == 0 {
            return 0;
        }
        let nearest = nearest.min(self.goals.to_event(&look));
        nearest.min(self.goals.to_end(&look, self.mix, movers))
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        true
    }
}
