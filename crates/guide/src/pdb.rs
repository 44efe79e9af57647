//! How far a state is in parts of the model, all else left out.
//!
//! *Idea*: some parts of the model are looked at, with who watches for errors, as if the others did whatever helps. All their
//! states, and how far each is from an error, are in a table, a pattern database (K. Qian and A. Nymeyer, *Guided invariant
//! model checking based on abstraction and symbolic pattern databases*, TACAS 2004; S. Edelkamp and A. Lluch Lafuente, *Abstraction
//! databases in theory and model checking practice*, 2004). Which parts go together is found as for `dpa`: what
//! happens close to an error is looked at first, as long as there is room; what is left makes the next pattern.
//!
//! *Properties*: admissible and consistent. The largest counts. A step that matters to several patterns may be counted in the first of
//! them only; then their distances add up (A. Felner, R. Korf and S. Hanan, *Additive pattern database heuristics*,
//! JAIR 2004), and if the sum is more, it counts.
//!
//! *Cost*: tables of at most as many states as asked for in each pattern, made as far as a search allows ([`crate::growing`]).

use crate::abstraction::{Apart, Patterns, bound};
use crate::{Entry, Misfit};

const NAME: &str = "pdb";

/// States of a pattern, if not said otherwise.
const STATES: u32 = 20_000;

const TAKES: &str = "n=STATES (2 or more), or budget=none";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "from parts of the model, all else left out",
    argument: Some(TAKES),
    admissible: true,
    consistent: true,
    build: |subject, argument| {
        let states = match argument {
            None | Some("budget=none") => Some(STATES),
            Some(text) => asked(text),
        };
        let states = states.ok_or_else(|| {
            let argument = argument.unwrap_or_default().to_owned();
            Misfit::Argument { guide: NAME, takes: TAKES, argument }
        })?;
        Apart::guide(subject, NAME, |apart| {
            apart.image(Patterns::new(&apart.system, states, subject.patience))
        })
    },
};

fn asked(argument: &str) -> Option<u32> {
    bound(argument.trim().trim_start_matches("n="))
}

/// Whether an argument asks for no more states than are usual.
pub fn is_small(argument: &str) -> bool {
    asked(argument).is_some_and(|states| states <= STATES)
}
