//! The runs to errors, for searches that do not see to it that runs are short.
//!
//! A run is kept as the numbers of the successors it takes, from which its steps are found again at the end.

use spinward_machine::{System, Violation};

use crate::findings::{Findings, keep_shortest};
use crate::limits::Memory;
use crate::outcome::{Found, Outcome, Stopped};
use crate::rebuild::{Goal, Order, follow};

/// The shortest run that was met to each error.
pub(super) struct Runs {
    /// The successors it takes, and how many steps after the last the error shows.
    findings: Findings<(Vec<u32>, u32)>,
    /// How many errors are wanted; 0: all.
    wanted: usize,
    memory: Memory,
}

impl Runs {
    pub fn new(wanted: usize, memory: &Memory) -> Self {
        Self { findings: Findings::new(), wanted, memory: memory.clone() }
    }

    /// An error shows after a run of this length, so many steps after its last state; `path` leads there. Fails if
    /// there are as many as are wanted.
    pub fn meet(
        &mut self,
        violation: Violation,
        (length, by): (u32, u32),
        path: impl FnOnce() -> Vec<u32>,
    ) -> Result<(), Stopped> {
        let is_better = match self.findings.known(violation) {
            Some(example) => length < example.length,
            None => self.findings.len() < Outcome::MAX_ERRORS,
        };
        let mut taken = Ok(());
        if is_better {
            let path = path();
            taken = self.memory.take(bytes(&path));
            match self.findings.known(violation) {
                Some(example) => {
                    self.memory.give_back(bytes(&example.path.0));
                    example.violation = violation;
                    example.length = length;
                    example.path = (path, by);
                }
                None => self.findings.add(violation, length, (path, by)),
            }
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += 1;
        }
        if self.wanted > 0 && self.findings.len() >= self.wanted {
            return Err(Stopped::Errors);
        }
        taken.map_err(Stopped::Limit)
    }

    /// What was found.
    pub fn finish<S: System>(self, system: &S, scratch: &mut S::Scratch) -> Vec<Found> {
        let mut examples = self.findings.into_examples();
        keep_shortest(&mut examples, self.wanted);
        let found = examples.into_iter().map(|example| {
            let (path, by) = example.path;
            let goals = path.into_iter().map(Goal::Successor);
            let goals = goals.chain([Goal::Wrong(example.violation, by)]);
            Found {
                violation: example.violation,
                steps: follow(system, scratch, goals, Order::Whole, false).steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest: false,
            }
        });
        found.collect()
    }
}

fn bytes(path: &[u32]) -> u64 {
    size_of_val(path) as u64
}
