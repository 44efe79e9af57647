//! Makes sure that the model does what a run says, before anybody is told.
//!
//! The machines are fresh ones that interpret the program, so that nothing the search did to its own can make a
//! wrong run look right. A run that is not as a formula says is held against the formula itself, not against
//! the automaton that the search had.

use std::collections::BTreeSet;
use std::sync::Arc;

use spinward_machine::{Config, Follower, Machine, Options, Step, System, Violation};
use spinward_program::Program;
use spinward_property::{Lasso, accepts, holds, is_false_after};
use spinward_search::Found;
use spinward_trail::{Misfit, replay};

use crate::options::Fairness;
use crate::plan::{Judge, Task};
use crate::{Error, Model};

/// Makes sure that the model does what a run says. A cycle need only come back to its start in the program that was
/// `searched`, which may not keep what nobody looks at.
pub(super) fn confirm(
    model: &Model,
    searched: &Arc<Program>,
    task: &Task,
    fairness: Fairness,
    found: &Found,
) -> Result<(), Error> {
    let program = &model.program;
    let whole = interpreter(program, task)?;
    let shows = |violation| spinward_trail::confirm(&whole, &found.steps, violation, None);
    let confirmed = match (task.judge, found.violation) {
        (Some(judge @ (Judge::Formula(_) | Judge::Automaton)), Violation::ClaimEnd) => {
            shows(None).and_then(|()| must_not_be(&whole, model, judge, found))
        }
        (Some(judge), Violation::Cycle) => {
            let searched = interpreter(searched, task)?;
            spinward_trail::confirm(&searched, &found.steps, None, found.cycle)
                .and_then(|()| match judge {
                    Judge::Formula(_) | Judge::Automaton => {
                        must_not_be(&whole, model, judge, found)
                    }
                    Judge::Labels => comes_through_labels(&whole, found),
                    Judge::NonProgress => makes_no_progress(&whole, found),
                })
                .and_then(|()| must_be_fair(&whole, fairness, found))
        }
        (Some(_), violation @ Violation::InvariantUndefined(number, _)) => {
            shows(None).and_then(|()| has_no_value(&whole, number, violation, found))
        }
        (_, violation) => shows(Some(violation)),
    };
    confirmed.map_err(|misfit| {
        Error::Internal(format!(
            "the run to an error ({}) does not replay, {misfit}",
            found.violation.describe(program)
        ))
    })
}

/// A fresh machine that leaves nothing out.
fn interpreter(program: &Arc<Program>, task: &Task) -> Result<Machine, Error> {
    let exclusive = task.options.exclusive && task.judge.is_none();
    let options = Options { reduce: None, movers: false, exclusive, ..task.options.clone() };
    Machine::new(program.clone(), options, Arc::default())
        .map_err(|error| Error::Internal(error.describe()))
}

/// The states of a run, with how many steps come before each: those in which any process may be next to move.
fn states(machine: &Machine, steps: &[Step]) -> Result<Vec<(usize, Config)>, Misfit> {
    let mut all = vec![(0, machine.start())];
    replay(machine, steps, &mut |event| {
        // Who is in the midst of an atomic sequence goes on, unless it must wait; after the claim the system moves.
        let goes_on = |last: &Config| match last.exclusive {
            Some(process) => event.steps.first().is_some_and(|step| step.process == process),
            None => last.system_turn,
        };
        if all.last().is_some_and(|(_, last)| goes_on(last)) {
            all.pop();
        }
        all.extend(event.after.map(|after| (event.index + event.steps.len(), after.clone())));
    })?;
    Ok(all)
}

fn misfit(found: &Found, message: &str) -> Result<(), Misfit> {
    Err(Misfit { index: found.steps.len(), message: message.into() })
}

/// The states of the cycle; the last one, if the run stays there.
fn cycle(machine: &Machine, found: &Found) -> Result<Vec<Config>, Misfit> {
    let start = found.cycle.unwrap_or(found.steps.len());
    let states = states(machine, &found.steps)?.into_iter();
    let mut cycle: Vec<_> = states.filter(|(index, _)| *index >= start).map(|it| it.1).collect();
    if cycle.len() > 1 {
        cycle.pop();
    }
    Ok(cycle)
}

/// The same infinite run, told with fewer steps: its cycle may begin earlier, and may be several laps of another.
///
/// An automaton that follows a run may come to its cycle later than the run does, and may need more laps.
pub(super) fn shorten(searched: &Arc<Program>, task: &Task, found: &mut Found) {
    let Some(start) = found.cycle else {
        return;
    };
    let options = Options { reduce: None, ..task.options.clone() };
    let Ok(machine) = Machine::new(searched.clone(), options, Arc::default()) else {
        return;
    };
    // Whether it is a run of the model at all is found out later.
    let Ok(states) = states(&machine, &found.steps) else {
        return;
    };
    let Some(mut first) = states.iter().position(|(index, _)| *index == start) else {
        return;
    };
    let mut last = states.len() - 1;
    // How many laps the cycle has: of the states of each, and the steps between, all are the same.
    let steps = |from: usize, to: usize| &found.steps[states[from].0..states[to].0];
    let length = last - first;
    let is_lap = |&lap: &usize| {
        length.is_multiple_of(lap)
            && (first..last - lap).all(|at| {
                states[at].1 == states[at + lap].1
                    && steps(at, at + 1) == steps(at + lap, at + lap + 1)
            })
    };
    if let Some(lap) = (1..length).find(is_lap) {
        last = first + lap;
    }
    while first > 0
        && last > first
        && states[first - 1].1 == states[last - 1].1
        && steps(first - 1, first) == steps(last - 1, last)
    {
        first -= 1;
        last -= 1;
    }
    let (start, end) = (states[first].0, states[last].0);
    found.steps.truncate(end);
    found.cycle = Some(start);
}

/// Whether a run of the model is one that a task looks for: a run without an end as its cycle says, and one with an
/// end whatever comes after. Of a run that does not replay, or that has no answer, that is not so.
pub(crate) fn is_wrong(model: &Model, task: &Task, found: &Found) -> bool {
    let Ok(machine) = interpreter(&model.program, task) else {
        return false;
    };
    let shown = match (task.judge, found.violation) {
        (Some(judge @ Judge::Formula(number)), Violation::ClaimEnd) => {
            // The word of the automaton alone does not do: the formula itself must be false.
            let formula = &model.program.formulas[number].temporal;
            lasso(&machine, found).and_then(|it| {
                let word = [it.prefix, it.cycle].concat();
                match is_false_after(formula, &word) {
                    Ok(true) => must_not_be(&machine, model, judge, found),
                    _ => misfit(found, "what comes after may make it right"),
                }
            })
        }
        (Some(Judge::Automaton), Violation::ClaimEnd) => lasso(&machine, found).and_then(|it| {
            match is_accepted_after(model, &[it.prefix, it.cycle].concat()) {
                true => Ok(()),
                false => misfit(found, "what comes after decides"),
            }
        }),
        (Some(judge @ (Judge::Formula(_) | Judge::Automaton)), _) => {
            must_not_be(&machine, model, judge, found)
        }
        (Some(Judge::Labels), _) => comes_through_labels(&machine, found),
        (Some(Judge::NonProgress), _) => makes_no_progress(&machine, found),
        _ => misfit(found, "nobody judges it"),
    };
    shown.is_ok()
}

/// Whether the automaton beside the model accepts each run that begins so.
fn is_accepted_after(model: &Model, word: &[u64]) -> bool {
    let Some(claim) = &model.claim else {
        return false;
    };
    let mut places = BTreeSet::from([claim.initial]);
    for &valuation in word {
        let edges = places.iter().flat_map(|&place| &claim.states[place as usize]);
        places = edges.filter(|edge| edge.label.holds(valuation)).map(|edge| edge.to).collect();
    }
    let follower = Follower::new((**claim).clone(), true);
    places.into_iter().any(|place| follower.ends(place as usize))
}

/// What is true in the states of a run, of what is watched. A run without a cycle repeats its last state.
fn lasso(machine: &Machine, found: &Found) -> Result<Lasso, Misfit> {
    let start = found.cycle.unwrap_or(found.steps.len());
    let mut lasso = Lasso { prefix: Vec::new(), cycle: Vec::new() };
    for (index, config) in states(machine, &found.steps)? {
        let values = machine.values(&config.state, &machine.options().watched);
        let values =
            values.map_err(|wrong| Misfit { index, message: wrong.describe(machine.program()) })?;
        if index < start { lasso.prefix.push(values) } else { lasso.cycle.push(values) }
    }
    if lasso.cycle.len() > 1 {
        // It is the first of them once more.
        lasso.cycle.pop();
    }
    Ok(lasso)
}

/// Makes sure that a formula does not hold of a run, or that an automaton accepts it: if it goes round its cycle for
/// ever or, if it has none, if its last state is repeated.
fn must_not_be(
    machine: &Machine,
    model: &Model,
    judge: Judge,
    found: &Found,
) -> Result<(), Misfit> {
    let lasso = lasso(machine, found)?;
    let is_wrong = match (judge, &model.claim) {
        (Judge::Formula(number), _) => !holds(&machine.program().formulas[number].temporal, &lasso),
        (_, Some(claim)) => accepts(claim, &lasso),
        (_, None) => false,
    };
    if is_wrong { Ok(()) } else { misfit(found, "nothing is wrong with this run") }
}

/// What is wrong with a condition that a task asks for in the last state of a run, if it has no value there.
pub(crate) fn undefined(model: &Model, task: &Task, found: &Found) -> Option<Violation> {
    let machine = interpreter(&model.program, task).ok()?;
    let states = states(&machine, &found.steps).ok()?;
    machine.values(&states.last()?.1.state, &machine.options().watched).err()
}

/// Makes sure that a condition has no value in the last state of a run.
fn has_no_value(
    machine: &Machine,
    number: u32,
    violation: Violation,
    found: &Found,
) -> Result<(), Misfit> {
    let states = states(machine, &found.steps)?;
    let last = states.last().map(|(_, config)| machine.values(&config.state, &[number]));
    match last {
        Some(Err(wrong)) if wrong == violation => Ok(()),
        _ => misfit(found, "the condition has a value there"),
    }
}

/// Makes sure that a cycle comes through a label `accept`.
fn comes_through_labels(machine: &Machine, found: &Found) -> Result<(), Misfit> {
    let program = machine.program();
    let mut comes = false;
    let mut look_at = |config: &Config| {
        let view = machine.view(&config.state);
        let at_label = |body, state| program.automaton(body).state(state).accept;
        comes |= view.processes.iter().any(|process| at_label(process.body, process.state));
        let claim = machine.options().claim.zip(view.claim);
        comes |= claim.is_some_and(|(body, state)| at_label(body, state));
    };
    let start = found.cycle.unwrap_or(found.steps.len());
    let outcome = replay(machine, &found.steps, &mut |event| {
        if event.index >= start {
            look_at(event.before);
        }
    })?;
    look_at(&outcome.last);
    if comes { Ok(()) } else { misfit(found, "the cycle comes through no label `accept`") }
}

/// Makes sure that a cycle has steps, and comes through no label `progress`.
fn makes_no_progress(machine: &Machine, found: &Found) -> Result<(), Misfit> {
    let non_progress = [machine.program().non_progress];
    let progresses =
        |config: &Config| machine.values(&config.state, &non_progress).unwrap_or(0) == 0;
    if found.cycle == Some(found.steps.len()) || cycle(machine, found)?.iter().any(progresses) {
        return misfit(found, "the cycle makes progress");
    }
    Ok(())
}

/// Whether a cycle is fair to all processes.
pub(super) fn is_fair(model: &Model, task: &Task, fairness: Fairness, found: &Found) -> bool {
    let whole = interpreter(&model.program, task);
    whole.is_ok_and(|whole| must_be_fair(&whole, fairness, found).is_ok())
}

/// Makes sure that a cycle is fair to all processes.
fn must_be_fair(machine: &Machine, fairness: Fairness, found: &Found) -> Result<(), Misfit> {
    if fairness == Fairness::None {
        return Ok(());
    }
    let start = found.cycle.unwrap_or(found.steps.len());
    let movers: BTreeSet<u16> = found.steps[start..].iter().map(|step| step.process).collect();
    let mut always: Option<BTreeSet<u16>> = None;
    let mut ever = BTreeSet::new();
    for config in cycle(machine, found)? {
        // After any move of the claim, the processes that can move are the same; and here all may, also if one waits
        // inside of an atomic sequence.
        let system_turn = machine.options().claim.is_some();
        let config = Config { system_turn, exclusive: None, ..config };
        let (moves, _) = machine.moves(&config, &mut machine.scratch());
        let can: BTreeSet<u16> =
            moves.iter().flat_map(|it| it.steps.iter().map(|step| step.process)).collect();
        ever.extend(&can);
        always = Some(always.map_or(can.clone(), |before| &before & &can));
    }
    let asked = match fairness {
        Fairness::Strong => ever,
        _ => always.unwrap_or_default(),
    };
    match asked.iter().all(|process| movers.contains(process)) {
        true => Ok(()),
        false => misfit(found, "the cycle is not fair to all processes"),
    }
}
