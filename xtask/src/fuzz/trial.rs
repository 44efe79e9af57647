//! What is done with a mutant: everything that reads, shows and runs a model.
//!
//! Whatever is wrong is a panic here; what a panic, an overflow of the stack, an allocation that
//! fails or an endless loop does to the process is seen from outside.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use spinward::{Check, Error, Model, Optimize, Por, ReasonCode, Report, Search};
use spinward_machine::{Machine, Options, Step, System as _, Violation};
use spinward_promela::{Loaded, load_text, pretty, render};
use spinward_trail::run::Keep;
use spinward_trail::spin_listing::{Columns, SpinListing};
use spinward_trail::{Listing, Trail, describe, fit, guided, replay};

use crate::generate::Dice;

const STATES: u64 = 2000;
const TIME: Duration = Duration::from_secs(1);
const MEMORY: u64 = 256 << 20;
const STEPS: usize = 100;
/// Runs of up to so many bytes of states are also shown in full.
const SHOWN: usize = 20 << 20;

/// Tries everything with a text.
pub fn run(path: &Path, text: &str) {
    let options = spinward_promela::Options::default();
    let loaded = load_text(path, text.to_owned(), &options);
    show(&loaded);
    if loaded.has_errors() {
        return;
    }
    print_and_read(&loaded);
    match Model::from_text(path, text.to_owned(), &options) {
        Ok(model) => {
            render::render_all(model.source_map(), &model.warnings, false);
            spinward_program::graph::dot(&model.program);
            spinward_program::graph::svg(&model.program);
            spinward_program::graph::json(&model.program).to_string();
            explore(&model);
        }
        Err(Error::Model { source_map, diagnostics }) => {
            render::render_all(&source_map, &diagnostics, false);
        }
        Err(error) => panic!("{error}"),
    }
}

/// Shows all diagnostics in all ways.
fn show(loaded: &Loaded) {
    render::render_all(&loaded.source, &loaded.diagnostics, true);
    for diagnostic in loaded.diagnostics.iter().take(100) {
        let shown = render::render(&loaded.source, diagnostic, false);
        assert!(!shown.contains('\x1b') && shown.len() < 100_000, "{shown}");
    }
    pretty::model(&loaded.model);
}

/// What is printed must mean the same.
fn print_and_read(loaded: &Loaded) {
    let printed = pretty::model(&loaded.model);
    let again = load_text(Path::new("printed.pml"), printed.clone(), &Default::default());
    let problem = again.diagnostics.iter().find(|problem| problem.is_error());
    if let Some(problem) = problem {
        panic!(
            "the printed model does not load: {}",
            render::render(&again.source, problem, false)
        );
    }
    let printed_again = pretty::model(&again.model);
    let different = printed.lines().zip(printed_again.lines()).find(|(a, b)| a != b);
    assert!(printed == printed_again, "printed twice, the model differs: {different:?}");
}

/// Explores the model a bit.
fn explore(model: &Model) {
    let dfs = check(model, Search::Dfs, Some(Por::Off));
    let bfs = check(model, Search::Bfs, Some(Por::Off));
    let less = check(model, Search::Bfs, None);
    let transactions = check(model, Search::Dfs, Some(Por::Transactions));
    if let (Some(dfs), Some(bfs), Some(less), Some(transactions)) =
        (&dfs, &bfs, &less, &transactions)
    {
        compare(dfs, bfs, less, transactions);
    }
    for report in [&dfs, &bfs, &less, &transactions].into_iter().flatten() {
        for error in report.errors.iter().take(5) {
            let claim = error.watched.claim;
            let trail = Trail::of_run(&model.program, claim, &error.run, error.cycle_index);
            tell(model, &trail, error.violation);
        }
    }
    // A single step that takes all the time (a `d_step`) would do so again.
    let in_time = |report: &Report| report.reasons.iter().all(|it| it.code != ReasonCode::Time);
    if dfs.as_ref().is_some_and(in_time) {
        walk(model);
    }
}

/// Explores the model in one way, all of it without any reduction, or what makes a difference; none if it
/// has no first state.
fn check(model: &Model, search: Search, por: Option<Por>) -> Option<Report> {
    let mut check = Check::new(model.clone()).search(search).errors(0);
    if let Some(por) = por {
        check = check.por(por);
    }
    if por == Some(Por::Off) {
        check = check.optimize(Optimize::None);
    }
    match check.max_states(STATES).time(TIME).memory(MEMORY).run() {
        Ok(report) => {
            report.to_json();
            Some(report)
        }
        Err(Error::Internal(message)) => panic!("{message}"),
        Err(_) => None,
    }
}

/// Searches that have seen everything have seen the same, and what was left out made no difference.
fn compare(dfs: &Report, bfs: &Report, less: &Report, transactions: &Report) {
    let whole =
        |report: &Report| report.reasons.iter().all(|reason| reason.code == ReasonCode::NotChecked);
    let errors = |report: &Report| {
        let mut kinds: Vec<_> = report.errors.iter().map(|it| (it.kind, it.line)).collect();
        kinds.sort_unstable();
        kinds
    };
    let figures = |report: &Report| {
        let counts = &report.statistics;
        (counts.states, counts.transitions, counts.error_count, errors(report))
    };
    if whole(dfs) && whole(bfs) {
        assert_eq!(figures(dfs), figures(bfs), "dfs and bfs differ");
    }
    if whole(dfs) && whole(less) {
        assert_eq!(errors(dfs), errors(less), "something was missed");
        assert!(less.statistics.states <= dfs.statistics.states, "there are more states");
    }
    if whole(dfs) && whole(transactions) {
        let mut kept = errors(dfs);
        kept.retain(|&(kind, _)| kind != Violation::InvalidEndState.kind());
        assert_eq!(kept, errors(transactions), "something was missed between transactions");
    }
}

/// Replays a trail as it stands in its file and shows it in all ways.
fn tell(model: &Model, trail: &Trail, violation: Violation) {
    let program = &model.program;
    let text = trail.to_text();
    let read = Trail::parse(&text).unwrap_or_else(|error| panic!("{error} in our own trail"));
    let (options, _) = guided::options(program, &read);
    let machine = Machine::new(program.clone(), options, Arc::default());
    let machine = machine.unwrap_or_else(|error| panic!("{}", error.describe()));
    let fitted = fit(&machine, &read).unwrap_or_else(|misfit| panic!("a trail: {misfit}"));
    let keep = if is_short(&machine, &fitted.steps) { Keep::ALL } else { Keep::SHORT };
    let run = describe(&machine, &fitted.steps, fitted.cycle_start, keep);
    let run = run.unwrap_or_else(|misfit| panic!("a trail, told: {misfit}"));
    let shows = match violation {
        Violation::Cycle => fitted.cycle_start.is_some(),
        // What formulas ask is not part of a trail.
        Violation::ClaimEnd if trail.claim.is_none() => true,
        Violation::InvariantUndefined(number, _) if !program.conditions[number as usize].given => {
            true
        }
        _ => run.violations.contains(&violation),
    };
    assert!(shows, "the trail has no {violation:?}");
    let listing = Listing { claim: true, grouped: true, ..Listing::default() };
    listing.steps(&run);
    listing.violation(program, &run, violation);
    listing.state(program, &run.end);
    list(&machine, &fitted.steps);
}

/// Whether all steps of a run can be shown in time.
fn is_short(machine: &Machine, steps: &[Step]) -> bool {
    machine.start().state.len().saturating_mul(steps.len()) < SHOWN
}

/// Shows a run as SPIN would.
fn list(machine: &Machine, steps: &[Step]) {
    let all = Columns {
        statements: true,
        globals: true,
        locals: true,
        receives: true,
        sends: true,
        flat: false,
    };
    let mut listing = SpinListing::new(machine, all);
    let steps = if is_short(machine, steps) { steps } else { &[] };
    let outcome = replay(machine, steps, &mut |event| drop(listing.event(event)));
    let outcome = outcome.unwrap_or_else(|misfit| panic!("a run: {misfit}"));
    listing.end(&machine.view(&outcome.last.state));
}

/// Takes a run as a simulation would.
fn walk(model: &Model) {
    let options = Options { end_states: true, assertions: true, trace: true, ..Options::default() };
    let Ok(machine) = Machine::new(model.program.clone(), options, Arc::default()) else {
        return;
    };
    let mut dice = Dice::new(STATES);
    let mut scratch = machine.scratch();
    let mut config = machine.start();
    let mut steps = Vec::new();
    while steps.len() < STEPS {
        let (mut moves, _) = machine.moves(&config, &mut scratch);
        if moves.is_empty() {
            break;
        }
        let chosen = moves.swap_remove(dice.below(moves.len()));
        steps.extend(&chosen.steps);
        match chosen.next {
            Some(next) => config = next,
            None => break,
        }
    }
    list(&machine, &steps);
}
