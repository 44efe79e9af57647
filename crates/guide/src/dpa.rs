//! How far a state is in an abstraction of the model that keeps distances.
//!
//! *Idea*: see [`crate::abstraction`]. K. Dräger, B. Finkbeiner and A. Podelski, *Directed model checking with
//! distance-preserving abstractions*, SPIN 2006.
//!
//! *Properties*: admissible and consistent; exact if no part had to be made smaller and all of the
//! model is in parts. Whoever seems to have no way to an error has none.
//!
//! *Cost*: made once, before the search. Then a look into a table for each two parts that were merged.

use spinward_machine::Machine;

use crate::abstraction::order::Order;
use crate::abstraction::parts::Parts;
use crate::abstraction::shrink::Refine;
use crate::abstraction::{Abstraction, Plan};
use crate::{Entry, Guide, Misfit, Room, Subject, Way};

const NAME: &str = "dpa";

/// States of a part, if not said otherwise.
const STATES: u32 = 1000;

const TAKES: &str = "takes n=STATES, order=rank|given|small, refine=near|far";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "from a small image of the whole model that keeps distances",
    argument: Some(TAKES),
    admissible: true,
    consistent: true,
    build: |subject, argument| {
        let plan = plan(argument.unwrap_or_default())?;
        let parts = Parts::new(subject)
            .map_err(|why| Misfit::Property { guide: NAME, why: format!("does not fit: {why}") })?;
        Ok(Box::new(Dpa::new(subject, parts, plan)))
    },
};

/// What is asked for.
fn plan(argument: &str) -> Result<Plan, Misfit> {
    let mut plan = Plan { states: STATES, order: Order::Rank, refine: Refine::Near, whole: false };
    for part in argument.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let wrong =
            || Misfit::Argument { guide: NAME, takes: TAKES, argument: argument.to_owned() };
        let (name, value) = part.split_once('=').unwrap_or(("n", part));
        match (name.trim(), value.trim()) {
            ("n", value) => {
                plan.states = value.parse().ok().filter(|it| *it >= 2).ok_or_else(wrong)?;
            }
            ("order", value) => plan.order = value.parse().map_err(|()| wrong())?,
            ("refine", "near") => plan.refine = Refine::Near,
            ("refine", "far") => plan.refine = Refine::Far,
            _ => return Err(wrong()),
        }
    }
    Ok(plan)
}

struct Dpa<'m> {
    machine: &'m Machine,
    /// No state stands for others: their estimates may differ.
    told_apart: bool,
    parts: Parts,
    wanted: Vec<bool>,
    abstraction: Abstraction,
}

impl<'m> Dpa<'m> {
    fn new(subject: &Subject<'m>, mut parts: Parts, plan: Plan) -> Self {
        let system = std::mem::take(&mut parts.system);
        let count = system.parts.len();
        let abstraction = Abstraction::new(system, plan);
        let wanted = (0..count).map(|part| abstraction.uses(part)).collect();
        let (machine, told_apart) = (subject.machine, !subject.symmetric);
        Self { machine, told_apart, parts, wanted, abstraction }
    }
}

impl Guide for Dpa<'_> {
    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        match self.parts.values(self.machine, state, &self.wanted, room) {
            Some(()) => self.abstraction.distance(&mut room.values),
            None => 0,
        }
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        self.told_apart
    }

    fn rules_out(&self) -> bool {
        self.parts.harmless && self.told_apart
    }
}
