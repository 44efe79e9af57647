//! Shorter runs than those that a search of less has found.
//!
//! What is left out makes no difference to whether there is an error, but to how long the run to it is. So where one
//! was found, shorter ones are looked for among all runs, unless the search itself has done so.
//!
//! A never claim may accept by its end, or by an assertion, what it also accepts by a cycle.
//!
//! An automaton that follows a run may come to its cycle a step later than the run does. So it may also start in any of
//! its states from which it accepts nothing that it would not accept from its first one.

use std::sync::Arc;
use std::time::Instant;

use spinward_machine::system::length;
use spinward_machine::{Fair, Follower, Labelled, Options, Product, System, Violation};
use spinward_program::Program;
use spinward_program::ir::{Action, Automaton as Body, BodyId, Transition};
use spinward_program::optimize::{Pass, Watched, optimize_by};
use spinward_property::{Automaton, Formula, accepted_word, intersection, translate};
use spinward_search::bfs::bfs;
use spinward_search::emptiness::shortest::{effort, shorter};
use spinward_search::{Found, Limits, Progress, Request};

use super::Running;
use super::confirm::shorten;
use super::judged::{Judged, Judging};
use crate::Error;
use crate::options::Fairness;
use crate::plan::{Emptiness, Judge, Task};

impl Running<'_> {
    /// Puts shorter runs in the place of those that were found, as far as they can be found with some effort.
    pub(super) fn tell_shorter(
        &mut self,
        &Judging { task, judge, follower, stutters, .. }: &Judging<'_>,
        fairness: Fairness,
        judged: &mut Judged,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), Error> {
        let Judged { outcome, budget, is_less, searched, .. } = judged;
        let states = outcome.counts.states;
        let claim = task.options.claim;
        let known_program = self.check.model.program.clone();
        let ends_run = |violation| ends_by_property(violation, claim, &known_program);
        let is_of_property =
            |found: &&mut Found| found.violation == Violation::Cycle || ends_run(found.violation);
        let Some(best) = outcome.errors.iter_mut().find(is_of_property) else {
            return Ok(());
        };
        let started = Instant::now();
        let program = self.program_of_all_steps(task, stutters, fairness);
        let options = Options { exclusive: false, ..task.options.clone() };
        let whole = self.machine(program.clone(), options)?;
        shorten(searched, task, best);
        let request = self.request(*budget);
        // A search for cycles comes to an end of the claim by any run, and one that knows where all cycles are wrong takes the
        // first.
        let takes_any =
            matches!(self.method.emptiness, Emptiness::ImprovedNested | Emptiness::GuidedNested);
        let again = *is_less || takes_any || best.violation != Violation::Cycle;
        let mut none_shorter = again || best.shortest;
        let mut take = |(found, no_other): (Option<Found>, bool)| {
            none_shorter &= no_other;
            if let Some(mut found) = found {
                *searched = program.clone();
                shorten(&program, task, &mut found);
                *best = Found { occurrences: best.occurrences, ..found };
            }
            length(&best.steps)
        };
        let mut known = take((None, true));
        match follower {
            None => {
                let labelled = Labelled::new(&whole);
                if again {
                    known = take(cycle(&labelled, fairness, known, &request, states, progress));
                }
                if claim.is_some_and(|claim| may_end_runs(program.automaton(claim), &program)) {
                    take(end(&labelled, &ends_run, known, &request, states, progress));
                }
            }
            Some(follower) => {
                let right = match judge {
                    Judge::Formula(number) => Some(program.formulas[number].temporal.clone()),
                    Judge::NonProgress => Some(Formula::atom(0).not().eventually().always()),
                    Judge::Automaton | Judge::Labels => None,
                };
                let starts = starts(follower, right.as_ref(), again);
                let states = states / starts.len().max(1) as u64;
                for follower in starts {
                    let product = Product::new(&whole, &follower);
                    known = take(cycle(&product, fairness, known, &request, states, progress));
                    if follower.has_ends() {
                        known = take(end(&product, &ends_run, known, &request, states, progress));
                    }
                }
            }
        }
        // Of a fair run another one that goes round otherwise may be told with fewer steps.
        best.shortest = request.shortest && none_shorter && fairness == Fairness::None;
        self.statistics.seconds.search += started.elapsed().as_secs_f64();
        Ok(())
    }
}

impl Running<'_> {
    /// The program with all its steps, one by one, but without what nobody asks for: it would make cycles longer
    /// than need be.
    fn program_of_all_steps(
        &self,
        task: &Task,
        stutters: bool,
        fairness: Fairness,
    ) -> Arc<Program> {
        let program = &self.check.model.program;
        if self.method.optimizes.is_none() {
            return program.clone();
        }
        let conditions = task.options.conditions();
        let fair = fairness != Fairness::None;
        let watched = Watched { claim: task.options.claim, stutters, fair, conditions };
        Arc::new(optimize_by(program, &watched, &[Pass::Fold, Pass::Unread, Pass::Dead]))
    }
}

/// Whether a finite run shows by this that a property does not hold.
fn ends_by_property(violation: Violation, claim: Option<BodyId>, program: &Program) -> bool {
    let stands_in = |id| Some(program.transition(id).body) == claim;
    match violation {
        Violation::ClaimEnd => true,
        Violation::Assertion(id) => stands_in(id),
        _ => false,
    }
}

/// Whether a claim accepts finite runs.
fn may_end_runs(claim: &Body, program: &Program) -> bool {
    let has_end = claim.states.iter().any(|it| it.end && it.reachable);
    let asserts = |it: &Transition| it.body == claim.body && matches!(it.action, Action::Assert(_));
    has_end || program.transitions.iter().any(asserts)
}

/// Looks for a finite run to what is wrong that is shorter; tells it, and whether there is no other.
fn end<S: System>(
    system: &S,
    is_wrong: &dyn Fn(Violation) -> bool,
    steps: usize,
    request: &Request,
    states: u64,
    progress: &mut dyn FnMut(&Progress),
) -> (Option<Found>, bool) {
    let effort = effort(request, states);
    let most = request.limits.max_states.map_or(effort, |most| most.min(effort));
    let limits = Limits { max_states: Some(most), ..request.limits.clone() };
    let request = Request { limits, ..request.clone() };
    let outcome = bfs(system, &mut system.scratch(), &request, progress);
    // It ends with the first error; if that is another one, those after it were not seen.
    let (of_property, others): (Vec<_>, Vec<_>) =
        outcome.errors.into_iter().partition(|it| is_wrong(it.violation));
    let nearest = of_property.into_iter().min_by_key(|it| length(&it.steps));
    let saw_all = outcome.stopped.is_none();
    let none_shorter =
        saw_all || nearest.is_some() || others.iter().any(|it| length(&it.steps) >= steps);
    (nearest.filter(|it| length(&it.steps) < steps), none_shorter)
}

/// Looks for an infinite run to what is wrong that is shorter; tells it, and whether there is no other.
fn cycle<S: System>(
    system: &S,
    fairness: Fairness,
    steps: usize,
    request: &Request,
    states: u64,
    progress: &mut dyn FnMut(&Progress),
) -> (Option<Found>, bool) {
    match fairness {
        Fairness::None => shorter(system, &mut system.scratch(), request, steps, states, progress),
        Fairness::Weak => {
            let system = &Fair::new(system, spinward_machine::Fairness::Weak);
            shorter(system, &mut system.scratch(), request, steps, states, progress)
        }
        // There is no telling which sets a cycle must meet.
        Fairness::Strong => (None, false),
    }
}

/// Those who may follow runs from their start on, and accept only what is wrong: others than the follower, or it too.
fn starts(follower: &Follower, right: Option<&Formula>, it_too: bool) -> Vec<Follower> {
    let automaton = follower.automaton();
    let right = right.and_then(|right| translate(right).ok());
    let accepts_only_wrong = |start: u32| {
        let from = Automaton { initial: start, ..automaton.clone() };
        right.as_ref().is_some_and(|right| {
            intersection(&from, right).is_ok_and(|both| accepted_word(&both).is_none())
        })
    };
    let numbers = 0..automaton.states.len() as u32;
    numbers
        .filter(|&start| match start == automaton.initial {
            true => it_too,
            false => accepts_only_wrong(start),
        })
        .map(|start| follower.starting_in(start))
        .collect()
}
