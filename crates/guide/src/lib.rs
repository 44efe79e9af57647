//! How far a state is from an error.
//!
//! A [`Guide`] estimates how many more steps a run needs to come to something wrong, so that a search can look first
//! where that is near (Edelkamp, Lluch Lafuente and Leue, *Directed explicit-state model checking in the validation of
//! communication protocols*, 2004). Each is a file that says where it comes from, what it costs, and whether
//! it is *admissible*, never more than the true number, and *consistent*, never less than before by more than the
//! steps made. [`GUIDES`] has them all.
//!
//! What is estimated is the way to what is checked: assertions, invalid end states, invariants, traces and formulas.
//! A run-time error, such as a division by zero, may be anywhere, and is no part of any estimate. It is
//! found when a search comes by.

mod abstraction;
mod accepting;
mod active;
mod coverage;
mod deadlock;
mod dpa;
mod formula;
mod fsm;
mod goals;
mod growing;
mod hamming;
mod interleaving;
mod max;
mod message;
mod meter;
mod none;
mod patience;
mod pdb;
mod term;
pub mod truth;

use std::fmt;
use std::str::FromStr;

use spinward_machine::{Follower, Machine, Sight, Step};
use spinward_program::ir::{BodyId, StateId};
use spinward_promela::suggest::nearest;
use thiserror::Error;

pub use growing::{Begin, Growing};
pub use none::Unguided;
pub use patience::Patience;

/// The estimate for a state from which nothing wrong can come any more.
pub const NEVER: u32 = u32::MAX;

/// How a state was reached.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way<'a> {
    /// The estimate for the state before.
    pub before: u32,
    /// The steps from there; none for the first state.
    pub steps: &'a [Step],
}

/// Room to work in, one for each thread.
#[derive(Debug, Default)]
pub struct Room {
    sight: Sight,
    movers: Vec<bool>,
    /// Values of the parts of a model, and what they are found with.
    values: Vec<u32>,
    contents: [Vec<i32>; 2],
}

/// Estimates how far states are from an error.
pub trait Guide: Send + Sync {
    /// How many steps more a run takes, perhaps, from a state that was reached in some way; [`NEVER`] if none
    /// leads to an error.
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32;

    /// The estimate, if it is more than a number that is known already; or else any that is not.
    fn estimate_above(&self, _known: u32, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        self.estimate(state, way, room)
    }

    /// Whether no estimate is more than the true number.
    fn is_admissible(&self) -> bool {
        false
    }

    /// Whether no step makes an estimate smaller by more than one. Then it is admissible too.
    fn is_consistent(&self) -> bool {
        false
    }

    /// Whether nothing at all can go wrong from a state from which no error is expected ([`NEVER`]), not even a run-time
    /// error.
    fn rules_out(&self) -> bool {
        false
    }

    /// Whether an estimate depends on how the state was reached.
    fn asks_the_way(&self) -> bool {
        false
    }

    /// Whether an estimate depends on what was estimated before, so that there must be one thread only.
    fn remembers(&self) -> bool {
        false
    }

    /// Whether there are better estimates now that a search has looked at so many moves. Which of them are given must not change
    /// by that: others may be asking.
    fn is_better_after(&self, _moves: u64) -> bool {
        false
    }

    /// The better estimates are given from now on. What was promised of those before is true of them, too.
    fn improve(&self) {}

    /// What a user should know about it: what it leaves out of account though it was asked to count on it.
    fn notes(&self) -> &[String] {
        &[]
    }
}

/// What is searched, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The machine, and what it watches.
    pub machine: &'a Machine,
    /// The automaton that follows its runs, if a formula is checked: its state is behind that of the machine.
    pub follower: Option<&'a Follower>,
    /// The state to come to, if one is known.
    pub target: Option<&'a Target>,
    /// Whether a state stands for all that differ only in who is who among processes that are alike.
    pub symmetric: bool,
    /// What may be spent on it.
    pub patience: Patience<'a>,
}

/// A state to come to.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its bytes.
    state: Vec<u8>,
    /// What each process is, and where: another machine may number otherwise who is alive.
    places: Vec<(BodyId, StateId)>,
}

impl Target {
    /// A state of a machine.
    pub fn new(machine: &Machine, state: Vec<u8>) -> Self {
        let processes = machine.view(&state).processes;
        Self { places: processes.iter().map(|it| (it.body, it.state)).collect(), state }
    }
}

/// Why a guide is of no use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Misfit {
    /// There is none of that name.
    #[error("there is no guide '{name}'; {} is one of: {}", meant(name), names())]
    Unknown {
        /// The name.
        name: String,
    },
    /// Its argument has no end.
    #[error("the parentheses of '{text}' do not close")]
    Open {
        /// What was asked for.
        text: String,
    },
    /// It takes no such argument.
    #[error("the guide '{guide}' takes {takes}, not '{argument}'")]
    Argument {
        /// Its name.
        guide: &'static str,
        /// What it takes.
        takes: &'static str,
        /// What was given.
        argument: String,
    },
    /// It estimates nothing of what is checked.
    #[error("the guide '{guide}' {why}")]
    Property {
        /// Its name.
        guide: &'static str,
        /// Why that is.
        why: String,
    },
}

fn names() -> String {
    GUIDES.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

/// The beginning of a sentence about the name that was meant, perhaps.
fn meant(name: &str) -> String {
    match nearest(name, GUIDES.iter().map(|it| it.name)) {
        Some(meant) => format!("did you mean '{meant}'? It"),
        None => "it".to_owned(),
    }
}

/// Makes a guide for a subject, given its argument.
type Build = for<'a> fn(&Subject<'a>, Option<&str>) -> Result<Box<dyn Guide + 'a>, Misfit>;

/// A guide that can be asked for.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it estimates, in a line.
    pub idea: &'static str,
    /// What arguments it takes, if any.
    pub argument: Option<&'static str>,
    /// Whether it is admissible, without an argument.
    pub admissible: bool,
    /// Whether it is consistent, without an argument.
    pub consistent: bool,
    build: Build,
}

/// All guides.
pub const GUIDES: &[Entry] = &[
    none::ENTRY,
    formula::ENTRY,
    fsm::MAX,
    fsm::SUM,
    dpa::ENTRY,
    pdb::ENTRY,
    max::ENTRY,
    deadlock::ENTRY,
    active::ENTRY,
    message::ENTRY,
    hamming::ENTRY,
    coverage::ENTRY,
    interleaving::ENTRY,
];

/// What guides take that know a state to come to.
const TRAIL: &str = "a trail file";

/// A guide as the user asks for it: `name`, `name=argument` or `name(argument)`.
#[derive(Clone, Debug)]
pub struct Wanted {
    entry: &'static Entry,
    argument: Option<String>,
}

impl Wanted {
    /// What is asked for.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Its argument.
    pub fn argument(&self) -> Option<&str> {
        self.argument.as_deref()
    }

    /// The trail to the state to come to, if it is given one.
    pub fn trail(&self) -> Option<&str> {
        self.argument().filter(|_| self.entry.argument == Some(TRAIL))
    }

    /// Makes the guide for a subject.
    pub fn build<'a>(&self, subject: &Subject<'a>) -> Result<Box<dyn Guide + 'a>, Misfit> {
        (self.entry.build)(subject, self.argument())
    }
}

impl PartialEq for Wanted {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.argument == other.argument
    }
}

impl Eq for Wanted {}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(argument) => write!(f, "{}={argument}", self.entry.name),
            None => f.write_str(self.entry.name),
        }
    }
}

impl FromStr for Wanted {
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        let end = text.find(['(', '=']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let in_parentheses = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        if rest.starts_with('(') && in_parentheses.is_none() {
            return Err(Misfit::Open { text: text.to_owned() });
        }
        let argument = in_parentheses.or_else(|| rest.strip_prefix('=')).map(str::to_owned);
        let entry = GUIDES.iter().find(|it| it.name == name);
        let entry = entry.ok_or_else(|| Misfit::Unknown { name: name.to_owned() })?;
        if let (Some(argument), None) = (&argument, entry.argument) {
            let (guide, argument) = (entry.name, argument.clone());
            return Err(Misfit::Argument { guide, takes: "no argument", argument });
        }
        if entry.name == max::ENTRY.name {
            max::parse(argument.as_deref().unwrap_or_default())?;
        }
        Ok(Self { entry, argument })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guides_are_asked_for_by_name_and_argument() {
        for text in ["fsm", "formula=sum", "formula(sum)"] {
            let wanted: Wanted = text.parse().unwrap();
            assert_eq!(wanted.to_string(), text.replace('(', "=").replace(')', ""));
        }
        let unknown = "fms".parse::<Wanted>().unwrap_err().to_string();
        let start = "there is no guide 'fms'; did you mean 'fsm'? It is one of: none, formula";
        assert!(unknown.starts_with(start), "{unknown}");
        let argument = "active=3".parse::<Wanted>().unwrap_err().to_string();
        assert_eq!(argument, "the guide 'active' takes no argument, not '3'");
        assert_eq!("fsm=a.trail".parse::<Wanted>().unwrap().trail(), Some("a.trail"));
        assert_eq!("formula=sum".parse::<Wanted>().unwrap().trail(), None);
        let several: Wanted = "max(dpa(n=50),fsm)".parse().unwrap();
        assert_eq!(several.to_string().parse::<Wanted>().unwrap(), several);
        let inside = "max(dpa,fms)".parse::<Wanted>().unwrap_err().to_string();
        assert!(inside.starts_with("there is no guide 'fms'"));
        for (text, message) in [
            ("max", "the guide 'max' takes several others, as in max(dpa(n=50),fsm), not ''"),
            ("max(fsm", "the parentheses of 'max(fsm' do not close"),
            (
                "max(max(fsm))",
                "the guide 'max' takes several others, as in max(dpa(n=50),fsm), not 'max(fsm)'",
            ),
            (
                "max(fsm=a.trail,dpa)",
                "the guide 'fsm' cannot go towards a trail as a part of 'max'",
            ),
        ] {
            assert_eq!(text.parse::<Wanted>().unwrap_err().to_string(), message);
        }
    }
}
