//! What a run that is known, from a trail say, does not do though it should.

use spinward_machine::{Step, Violation};
use spinward_program::ir::BodyId;
use spinward_search::Found;

use crate::Model;
use crate::plan::{Judge, Task};
use crate::report::ReportedError;
use crate::run::{confirm, reported};

/// A run of a model, to be held against what is asked of whole runs: its formulas, and for one that goes on for ever
/// its labels.
#[derive(Clone, Debug)]
pub struct KnownRun<'a> {
    /// The model.
    pub model: &'a Model,
    /// The never claim that moves with the run, if one does.
    pub claim: Option<BodyId>,
    /// Its steps, those of the claim included.
    pub steps: &'a [Step],
    /// After how many of them the cycle starts, for a run that goes on for ever.
    pub cycle: Option<usize>,
}

impl KnownRun<'_> {
    /// Which formulas of the program, of these, do not hold of the run. Of a run that has an end they do not hold only
    /// if nothing that may come after would help, or if what one asks for has no value where it ends.
    pub fn against_formulas(&self, numbers: impl IntoIterator<Item = usize>) -> Vec<ReportedError> {
        let tasks = numbers.into_iter().map(|number| Task::formula(self.model, number));
        tasks.filter_map(|task| self.judge(task)).collect()
    }

    /// Whether the automaton given beside the model accepts the run, whatever comes after if it has an end.
    pub fn against_automaton(&self) -> Option<ReportedError> {
        self.model.claim.as_ref()?;
        self.judge(Task::automaton(self.model))
    }

    /// Whether a run that goes on for ever comes through `accept` again and again.
    pub fn against_acceptance(&self) -> Option<ReportedError> {
        self.cycle?;
        let task = match self.claim {
            Some(claim) => Task::claim(self.model, claim),
            None => Task::labels(self.model),
        };
        self.judge(task)
    }

    /// Whether a run that goes on for ever never comes through `progress`.
    pub fn against_non_progress(&self) -> Option<ReportedError> {
        self.cycle?;
        self.judge(Task::non_progress(self.model))
    }

    fn judge(&self, mut task: Task) -> Option<ReportedError> {
        task.options.claim = self.claim;
        let mut found = Found {
            violation: if self.cycle.is_some() { Violation::Cycle } else { Violation::ClaimEnd },
            steps: self.steps.to_vec(),
            cycle: self.cycle,
            occurrences: 1,
            shortest: false,
        };
        let mut wrong = confirm::is_wrong(self.model, &task, &found);
        if !wrong
            && self.cycle.is_none()
            && let Some(undefined) = confirm::undefined(self.model, &task, &found)
        {
            (wrong, found.violation) = (true, undefined);
        }
        wrong.then(|| {
            // What is told is the formula, not the claim that happens to move along.
            if task.judge != Some(Judge::Labels) {
                task.options.claim = None;
            }
            reported(&self.model.program, &task, found)
        })
    }
}
