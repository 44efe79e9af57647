//! How far the property is from being violated, by what it says.
//!
//! *Idea*: an assertion is violated when its process is before it and its condition is false; an invariant when it is
//! false; a formula of safety when its automaton can go on. How long that takes is computed from the condition, part by
//! part, and from the distances of control states (Edelkamp, Lluch Lafuente and Leue 2004, figures 8 to 10; for
//! counters the refinement mentioned there). Where infinite runs are judged, it is how far they are from being accepted
//! (`accepting.rs`).
//!
//! *Properties*: with the largest part of each conjunction, the default, it is admissible and consistent; then
//! what else can go wrong counts too: the nearest error of any kind. With `sum` the parts are added, which may be
//! too much but tells more states apart, and only assertions, invariants and formulas count.
//!
//! *Cost*: one look at the variables of each condition, for assertions once for each process.

use crate::accepting::Accepting;
use crate::goals::Goals;
use crate::term::Mix;
use crate::{Entry, Guide, Misfit, Room, Subject, Way};

const NAME: &str = "formula";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "from what assertions, invariants and formulas say",
    argument: Some("sum or max"),
    admissible: true,
    consistent: true,
    build: |subject, argument| {
        let mix = mix(argument)?;
        Ok(match Accepting::new(subject, mix) {
            Some(accepting) => Box::new(accepting),
            None => Box::new(Formula::new(subject, mix)?),
        })
    },
};

fn mix(argument: Option<&str>) -> Result<Mix, Misfit> {
    match argument {
        None | Some("max") => Ok(Mix::Max),
        Some("sum") => Ok(Mix::Sum),
        Some(other) => {
            let (takes, argument) = ("'sum' or 'max'", other.to_owned());
            Err(Misfit::Argument { guide: NAME, takes, argument })
        }
    }
}

struct Formula<'m> {
    goals: Goals<'m>,
    mix: Mix,
}

impl<'m> Formula<'m> {
    fn new(subject: &Subject<'m>, mix: Mix) -> Result<Self, Misfit> {
        let goals = Goals::new(subject, mix);
        if mix == Mix::Sum && !goals.has_properties() {
            let why = "with 'sum' needs an assertion, an invariant or a formula, and there is none here; for \
                       deadlocks use --guide active or deadlock";
            return Err(Misfit::Property { guide: NAME, why: why.into() });
        }
        Ok(Self { goals, mix })
    }
}

impl Guide for Formula<'_> {
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        self.estimate_above(0, state, way, room)
    }

    fn estimate_above(&self, known: u32, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        let Room { sight, movers, .. } = room;
        let look = self.goals.machine.look(state, sight);
        let nearest = self.goals.to_condition(&look, state, self.mix);
        let nearest = nearest.min(self.goals.to_assertion(&look, self.mix));
        if self.mix == Mix::Sum || nearest <= known {
            return nearest;
        }
        let nearest = nearest.min(self.goals.to_event(&look));
        // Of these, sums are never too much.
        nearest.min(self.goals.to_end(&look, Mix::Sum, movers, known))
    }

    fn is_admissible(&self) -> bool {
        self.mix == Mix::Max
    }

    fn is_consistent(&self) -> bool {
        self.mix == Mix::Max
    }
}
