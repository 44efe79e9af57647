//! How many processes can move.
//!
//! *Idea*: in a deadlock nobody can, so a state in which few can is near to one (Edelkamp, Lluch Lafuente and Leue
//! 2004, section 4, *active processes*).
//!
//! *Properties*: not admissible, since one step may block many at once.
//!
//! *Cost*: the guards of all statements that processes stand before: about that of an expansion.

use spinward_machine::Machine;

use crate::{Entry, Guide, Misfit, Room, Subject, Way};

const NAME: &str = "active";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "the number of processes that can move, for deadlocks",
    argument: None,
    admissible: false,
    consistent: false,
    build: |subject, _| {
        for_deadlocks(NAME, subject)?;
        Ok(Box::new(Active { machine: subject.machine }))
    },
};

/// Refuses what looks for no deadlock.
pub fn for_deadlocks(guide: &'static str, subject: &Subject<'_>) -> Result<(), Misfit> {
    if subject.machine.options().end_states {
        return Ok(());
    }
    let why = "is for deadlocks, and invalid end states are not checked here; use --guide formula, or --safety";
    Err(Misfit::Property { guide, why: why.into() })
}

struct Active<'m> {
    machine: &'m Machine,
}

impl Guide for Active<'_> {
    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        let Room { sight, movers, .. } = room;
        self.machine.look(state, sight).movers(movers);
        movers.iter().filter(|&&can| can).count() as u32
    }
}
