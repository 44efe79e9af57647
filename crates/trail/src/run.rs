//! A run in the model's own terms: who does what in which line, and what it changes.

use std::collections::VecDeque;
use std::path::PathBuf;

use spinward_machine::{Machine, Step, View, Violation};
use spinward_program::Program;
use spinward_program::ir::Action;

use crate::listing::change_in_words;
use crate::messages::{Message, Post};
use crate::replay::{Event, Misfit, replay};
use crate::values::{self, Change, plain_name};

/// One step of a run, told.
#[derive(Clone, Debug)]
pub struct StepLine {
    /// How many steps come before it, those of the claim too.
    pub index: usize,
    /// Its number among the steps of the processes, from 1; for a move of the claim, that of the
    /// step before it.
    pub number: usize,
    /// Who moves; none for the claim.
    pub process: Option<u16>,
    /// The type of the process.
    pub name: String,
    /// Where the statement stands.
    pub file: PathBuf,
    /// Its line there.
    pub line: u32,
    /// The statement.
    pub statement: String,
    /// What it changes; of a rendezvous at its second half.
    pub changes: Vec<Change>,
    /// The messages it sends and receives, in order.
    pub messages: Vec<Message>,
    /// What it prints.
    pub output: Option<String>,
    /// Whether it makes no difference to what goes wrong, if that was [asked](Run::dim).
    pub dimmed: bool,
}

impl StepLine {
    /// The process as people call it: `P(1)`, `claim`.
    pub fn who(&self) -> String {
        match self.process {
            Some(pid) => format!("{}({pid})", self.name),
            None => "claim".into(),
        }
    }

    /// Where the statement stands: `model.pml:12`.
    pub fn place(&self) -> String {
        let file = self.file.file_name().unwrap_or(self.file.as_os_str());
        format!("{}:{}", file.to_string_lossy(), self.line)
    }

    /// What it changes, told from the view of the one who moves.
    pub fn changes_in_words(&self) -> Vec<String> {
        self.changes.iter().map(|it| change_in_words(self, it)).collect()
    }
}

/// How much of a run is told: its first and its last steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// So many steps at the start.
    pub first: usize,
    /// So many steps at the end.
    pub last: usize,
}

impl Keep {
    /// All steps.
    pub const ALL: Self = Self { first: usize::MAX, last: 0 };

    /// A few steps of the start, more of the end.
    pub const SHORT: Self = Self { first: 5, last: 20 };

    /// As many as people look at in a picture.
    pub fn for_picture(steps: &[Step]) -> Self {
        let some = Self { first: 500, last: 1500 };
        if steps.len() <= some.first + some.last { Self::ALL } else { some }
    }
}

/// A run, told.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its first steps.
    pub first: Vec<StepLine>,
    /// How many steps are not told.
    pub left_out: usize,
    /// Its last steps.
    pub last: Vec<StepLine>,
    /// How many steps the processes take in all.
    pub length: usize,
    /// The types of the processes there are at its start, by their numbers.
    pub at_start: Vec<String>,
    /// The state at its end.
    pub end: View,
    /// What is wrong at its end.
    pub violations: Vec<Violation>,
    /// Where the cycle starts: so many steps of processes come before.
    pub cycle_start: Option<usize>,
    /// Who moved last; an assertion is one of this process.
    pub last_mover: Option<u16>,
}

impl Run {
    /// How many steps are not told, of those that are to be shown: with the moves of the claim or without.
    pub fn left_out_steps(&self, claim: bool) -> usize {
        if claim || self.left_out == 0 {
            return self.left_out;
        }
        let before = self.first.last().map_or(0, |line| line.number);
        let next = self.last.iter().find(|line| line.process.is_some());
        let after = next.map_or(self.length + 1, |line| line.number);
        after.saturating_sub(before + 1)
    }

    /// Marks the steps that make no difference to what goes wrong, by their [index](StepLine::index).
    pub fn dim(&mut self, dimmed: &[bool]) {
        for line in self.first.iter_mut().chain(&mut self.last) {
            line.dimmed = dimmed.get(line.index).copied().unwrap_or(false);
        }
    }

    /// The step told that last set a variable of the property that failed. If steps in the middle are not told, one
    /// before them may not be the last.
    pub fn last_set(
        &self,
        program: &Program,
        violation: Violation,
        variable: &str,
    ) -> Option<&StepLine> {
        // Other processes may have variables of the same name.
        let asks = self.last_mover.filter(|_| violation.condition().is_none());
        let owner = asks.filter(|&pid| {
            let process = self.end.processes.get(usize::from(pid));
            let slots = process.map(|process| &program.automaton(process.body).locals.slots);
            slots.is_some_and(|slots| slots.iter().any(|slot| slot.name == variable))
        });
        let sets = |change: &Change| {
            matches!(change, Change::Set { process, name, .. }
                if name == variable && *process == owner)
        };
        let first = self.first.iter().rev().filter(|_| self.left_out == 0);
        let mut lines = self.last.iter().rev().chain(first);
        lines.find(|line| line.changes.iter().any(sets))
    }

    /// The variables in the property that failed, with their values.
    pub fn values_of(&self, program: &Program, violation: Violation) -> Vec<(String, String)> {
        if let Some(number) = violation.condition() {
            let expr = &program.conditions[number as usize].expr;
            return values::values_read(program, &self.end, Step::CLAIM, expr);
        }
        let action = violation.transition().map(|id| &program.transition(id).action);
        match (action, self.last_mover) {
            (Some(Action::Assert(expr)), Some(process)) => {
                values::values_read(program, &self.end, process, expr)
            }
            _ => Vec::new(),
        }
    }
}

/// The types of the processes that every run starts with.
fn process_names(machine: &Machine) -> Vec<String> {
    let program = machine.program();
    let start = program.start.iter();
    start.map(|(body, _)| plain_name(&program.automaton(*body).name).to_owned()).collect()
}

/// Replays a run and tells it. The cycle, if there is one, starts after `cycle_start` of the steps.
pub fn describe(
    machine: &Machine,
    steps: &[Step],
    cycle_start: Option<usize>,
    keep: Keep,
) -> Result<Run, Misfit> {
    let mut teller = Teller {
        machine,
        cycle_start,
        number: 0,
        numbered_cycle_start: None,
        post: Post::default(),
    };
    let mut first = Vec::new();
    let mut last = VecDeque::new();
    let mut left_out = 0;
    let shown = steps.len();
    let outcome = replay(machine, steps, &mut |event| {
        let end = event.index + event.steps.len();
        let near_start = first.len() < keep.first;
        // To tell a step costs far more than to replay it, so those in the middle are only counted.
        if near_start || end + keep.last + 2 > shown {
            for line in teller.tell(event) {
                if first.len() < keep.first && last.is_empty() && left_out == 0 {
                    first.push(line);
                } else {
                    last.push_back(line);
                    if last.len() > keep.last {
                        last.pop_front();
                        left_out += 1;
                    }
                }
            }
        } else {
            left_out += event.steps.len();
            teller.skip(event);
        }
    })?;
    Ok(Run {
        first,
        left_out,
        last: last.into(),
        length: spinward_machine::system::length(steps),
        at_start: process_names(machine),
        end: machine.view(&outcome.last.state),
        violations: outcome.violations,
        cycle_start: teller.numbered_cycle_start,
        last_mover: steps.last().map(|step| step.process),
    })
}

/// Turns moves into lines, counting them.
struct Teller<'a> {
    machine: &'a Machine,
    cycle_start: Option<usize>,
    number: usize,
    numbered_cycle_start: Option<usize>,
    post: Post,
}

impl Teller<'_> {
    fn skip(&mut self, event: &Event<'_>) {
        for (offset, step) in event.steps.iter().enumerate() {
            self.count(event.index + offset, *step);
        }
        self.post.follow(self.machine, event);
    }

    fn count(&mut self, index: usize, step: Step) {
        if self.cycle_start == Some(index) {
            self.numbered_cycle_start = Some(self.number);
        }
        self.number += usize::from(!step.is_claim());
    }

    fn tell(&mut self, event: &Event<'_>) -> Vec<StepLine> {
        let program = self.machine.program();
        let before = self.machine.view(&event.before.state);
        let mut lines: Vec<StepLine> = Vec::with_capacity(event.steps.len());
        for (offset, step) in event.steps.iter().enumerate() {
            self.count(event.index + offset, *step);
            let transition = program.transition(step.transition);
            let element = program.element(transition.element);
            let position = program.source.position(element.span);
            let automaton = program.automaton(transition.body);
            lines.push(StepLine {
                index: event.index + offset,
                number: self.number,
                process: (!step.is_claim()).then_some(step.process),
                name: plain_name(&automaton.name).to_owned(),
                file: program.source.path(element.span).to_owned(),
                line: position.line,
                statement: element.text.clone(),
                changes: Vec::new(),
                messages: Vec::new(),
                output: (offset + 1 == event.steps.len() && !event.output.is_empty())
                    .then(|| event.output.to_owned()),
                dimmed: false,
            });
        }
        for (offset, message) in self.post.tell(self.machine, &before, event) {
            lines[offset].messages.push(message);
        }
        if let (Some(line), Some(after)) = (lines.last_mut(), event.after) {
            line.changes = values::diff(program, &before, &self.machine.view(&after.state));
        }
        lines
    }
}
