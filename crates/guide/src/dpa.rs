//! How far a state is in an abstraction of the model that keeps distances.
//!
//! *Idea*: see [`crate::abstraction`]. K. Dräger, B. Finkbeiner and A. Podelski, *Directed model checking with
//! distance-preserving abstractions*, SPIN 2006.
//!
//! *Properties*: admissible and consistent; exact if no part had to be made smaller and all of the
//! model is in parts. Whoever seems to have no way to an error has none.
//!
//! *Cost*: made once, before the search. Then a look into a table for each two parts that were merged.

use crate::abstraction::order::Order;
use crate::abstraction::shrink::Refine;
use crate::abstraction::{Abstraction, Image, Plan};
use crate::{Entry, Misfit};

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
        Ok(Box::new(Image::new(subject, NAME, |system| Abstraction::new(system, plan))?))
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
