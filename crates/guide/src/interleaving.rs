//! How long one process has moved without another.
//!
//! *Idea*: what goes wrong between processes shows when they take turns: runs come first in which they do so often (the
//! interleaving heuristic of Groce and Visser, *Heuristics for model checking Java programs*, 2004).
//!
//! *Properties*: not admissible, it knows no error at all.
//!
//! *Cost*: none. Who moved last is the last byte of the estimate.

use crate::{Entry, Guide, Room, Way};

pub const ENTRY: Entry = Entry {
    name: "interleaving",
    idea: "how long one process has moved alone: turns first",
    argument: None,
    admissible: false,
    consistent: false,
    build: |_, _| Ok(Box::new(Interleaving)),
};

struct Interleaving;

impl Guide for Interleaving {
    fn estimate(&self, _: &[u8], way: Way<'_>, _: &mut Room) -> u32 {
        let Some(step) = way.steps.iter().rev().find(|step| !step.is_claim()) else {
            return u32::from(u8::MAX);
        };
        let mover = u32::from(step.process) & u32::from(u8::MAX);
        let (alone, last) = (way.before >> u8::BITS, way.before & u32::from(u8::MAX));
        let alone = if mover == last { (alone + 1).min(u32::MAX >> (u8::BITS + 1)) } else { 0 };
        alone << u8::BITS | mover
    }

    fn asks_the_way(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use spinward_machine::Step;
    use spinward_program::ir::TransitionId;

    use super::*;

    #[test]
    fn taking_turns_is_nearer_than_going_on() {
        let estimate = |before, process| {
            let steps = &[Step { process, transition: TransitionId(0) }];
            Interleaving.estimate(&[], Way { before, steps }, &mut Room::default())
        };
        let first = Interleaving.estimate(&[], Way::default(), &mut Room::default());
        let one = estimate(first, 0);
        assert!(estimate(one, 1) < estimate(one, 0));
        assert!(estimate(estimate(one, 0), 0) > estimate(one, 0));
    }
}
