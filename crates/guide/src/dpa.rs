//! How far a state is in an abstraction of the model that keeps distances.
//!
//! *Idea*: see [`crate::abstraction`]. K. Dräger, B. Finkbeiner and A. Podelski, *Directed model checking with
//! distance-preserving abstractions*, SPIN 2006.
//!
//! Two such abstractions are made, if the first does not keep all distances, by two orders in which parts are merged. That which
//! sees an error farther away from the first state is used.
//!
//! *Properties*: admissible and consistent; exact if no part had to be made smaller and all of the
//! model is in parts. Whoever seems to have no way to an error has none.
//!
//! *Cost*: made once, as far as a search allows ([`crate::growing`]). Then a look into a table for each two parts that were merged.

use std::slice;
use std::sync::Arc;

use crate::abstraction::order::Order;
use crate::abstraction::shrink::Refine;
use crate::abstraction::{Abstraction, Apart, Plan, bound};
use crate::{Entry, Guide, Misfit, Subject};

const NAME: &str = "dpa";

/// States of a part, if not said otherwise.
const STATES: u32 = 1000;

/// States of a part of the image that is there first. It takes a tenth of the time, and often tells nearly as much.
const FEW: u32 = 100;

const TAKES: &str =
    "n=STATES (2 or more), order=rank|given|small|outer, refine=near|far, budget=none";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "from a small image of the whole model that keeps distances",
    argument: Some(TAKES),
    admissible: true,
    consistent: true,
    build: |subject, argument| {
        let (plan, order) = plan(argument.unwrap_or_default())?;
        let orders = order.as_ref().map_or(ORDERS, slice::from_ref);
        Apart::guide(subject, NAME, |apart| {
            apart.image(Abstraction::new(&apart.system, plan, orders, subject.patience))
        })
    },
};

/// Whether an argument asks for no more states than are usual, and for nothing else that takes longer.
pub fn is_small(argument: &str) -> bool {
    !argument.contains("budget") && plan(argument).is_ok_and(|(plan, _)| plan.states <= STATES)
}

/// Makes it in two stages: an image that is small is told first; what comes then are both.
pub fn in_stages<'m>(
    subject: &Subject<'m>,
    mut tell: impl FnMut(Box<dyn Guide + 'm>),
) -> Result<Box<dyn Guide + 'm>, Misfit> {
    Apart::guide(subject, NAME, |apart| {
        let made = |plan, orders| {
            Arc::new(Abstraction::new(&apart.system, plan, orders, subject.patience))
        };
        let small = made(Plan { states: FEW, ..USUAL }, &[Order::Rank]);
        let first = apart.image(vec![Arc::clone(&small)]);
        if small.is_exact() {
            return first;
        }
        tell(first);
        apart.image(vec![small, made(USUAL, ORDERS)])
    })
}

/// What is asked for, if not said otherwise.
const USUAL: Plan = Plan { states: STATES, order: Order::Rank, refine: Refine::Near, whole: false };

/// In which orders parts are merged, if not said otherwise.
const ORDERS: &[Order] = &[Order::Outer, Order::Rank];

/// What is asked for, and in which order parts are to be merged, if that is said.
fn plan(argument: &str) -> Result<(Plan, Option<Order>), Misfit> {
    let mut plan = USUAL;
    if argument.is_empty() {
        return Ok((plan, None));
    }
    let (mut order, mut seen) = (None, Vec::new());
    for part in argument.split(',') {
        let wrong =
            || Misfit::Argument { guide: NAME, takes: TAKES, argument: argument.to_owned() };
        let (name, value) = part.split_once('=').unwrap_or(("n", part));
        let (name, value) = (name.trim(), value.trim());
        if seen.contains(&name) {
            return Err(wrong());
        }
        seen.push(name);
        match (name, value) {
            ("n", value) => plan.states = bound(value).ok_or_else(wrong)?,
            ("order", value) => order = Some(value.parse().map_err(|()| wrong())?),
            ("refine", "near") => plan.refine = Refine::Near,
            ("refine", "far") => plan.refine = Refine::Far,
            // With any argument there is none.
            ("budget", "none") => {}
            _ => return Err(wrong()),
        }
    }
    Ok((plan, order))
}
