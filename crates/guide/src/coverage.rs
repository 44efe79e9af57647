//! How often the statement that leads to a state was seen before.
//!
//! *Idea*: errors hide where nobody has looked: statements that were taken seldom come first (the branch-count
//! heuristic of Groce and Visser, *Heuristics for model checking Java programs*, 2004).
//!
//! *Properties*: not admissible, it knows no error at all; it depends on what was looked at before.
//!
//! *Cost*: a number for each statement.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Entry, Guide, Room, Way};

pub const ENTRY: Entry = Entry {
    name: "coverage",
    idea: "how often the last statement was seen before: new ones first",
    argument: None,
    admissible: false,
    consistent: false,
    build: |subject, _| {
        let statements = subject.machine.program().transitions.len();
        Ok(Box::new(Coverage((0..statements).map(|_| AtomicU32::new(0)).collect())))
    },
};

/// By statement.
struct Coverage(Vec<AtomicU32>);

impl Guide for Coverage {
    fn estimate(&self, _: &[u8], way: Way<'_>, _: &mut Room) -> u32 {
        let seen = way.steps.iter().filter_map(|step| self.0.get(step.transition.0 as usize));
        seen.map(|count| count.fetch_add(1, Ordering::Relaxed)).min().unwrap_or(0)
    }

    fn asks_the_way(&self) -> bool {
        true
    }

    fn remembers(&self) -> bool {
        true
    }
}
