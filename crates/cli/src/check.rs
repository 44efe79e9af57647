//! `spinward check`: verifies a model.
//!
//! [`args`] has its options, [`human`] tells people what it found, [`files`] writes the runs.

mod args;
mod files;
mod human;

use std::path::Path;
use std::sync::Arc;

use spinward::words::counted;
use spinward::{Guide, Model, Progress, Report, ReportedError};
use spinward_machine::Machine;
use spinward_trail::describe;
use spinward_trail::run::{Keep, Run, StepLine};

use self::args::configure;
use self::files::{write_pages, write_trails};
use self::human::human;
use crate::args::formulas;
use crate::formats::Format;
use crate::model;
use crate::progress::ProgressLine;
use crate::terminal::{self, EXIT_USAGE, Failure, print, say};
use crate::trail;

pub use self::args::Args;
pub use self::human::headline;

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    match try_run(args) {
        Ok(mut checked) => {
            write_trails(args, &mut checked);
            let runs = if args.format == Format::Sarif { steps(&checked)? } else { Vec::new() };
            print(&match args.format.of_report(&checked.report, &runs) {
                Some(text) => text,
                None => human(args, &checked)?,
            })?;
            clean_up(args, &checked.report);
            if let Some(path) = &args.report {
                match write_pages(args, &checked, path) {
                    // The verdict matters more than the file.
                    Err(failure) if failure.code == EXIT_USAGE => {
                        say(&format!("warning: {}", failure.message));
                    }
                    result => result?,
                }
            }
            Ok(checked.report.exit_code())
        }
        Err(error) => {
            let report = Report::of_error(&args.model.name(), &error);
            if let Some(text) = args.format.of_report(&report, &[]) {
                print(&text)?;
            }
            Err(model::tell(&error, &args.output))
        }
    }
}

/// Removes what is on disk, unless there is something to go on with.
fn clean_up(args: &Args, report: &Report) {
    if let Some(folder) = args.disk.as_ref().or(args.resume.as_ref())
        && report.resumable.is_none()
        && let Err(problem) = spinward::disk::remove(folder)
    {
        say(&format!("warning: cannot remove {}: {problem}", folder.display()));
    }
}

/// A report, and the model for telling its runs.
struct Checked {
    model: Model,
    report: Report,
}

fn try_run(args: &Args) -> Result<Checked, spinward::Error> {
    let formulas = formulas(&args.ltl);
    let conditions = &args.invariant.invariants;
    let model = model::try_load(&args.model, conditions, &formulas, args.claim.as_deref())?;
    model::show(model.source_map(), &model.warnings, &args.output);
    let mut check = configure(args, model.clone());
    if let Some(path) = args.guide.as_ref().and_then(Guide::trail) {
        let fit = trail::read(&model, Path::new(path))
            .map_err(|failure| spinward::Error::Usage(failure.message))?;
        check = check.toward(fit.fitted.steps);
    }
    let wanted = !args.no_progress && !args.output.quiet && args.format == Format::Human;
    let mut line = ProgressLine::new(wanted);
    let (mut best, mut is_met) = (None, false);
    let result = check
        .stop(terminal::stop_on_interrupt())
        .on_progress(|progress| {
            if progress.best.is_some() && progress.best != best {
                best = progress.best;
                tell_best(args, &line, progress);
            }
            if let Some(after) = progress.met.filter(|_| !is_met) {
                is_met = true;
                line.remark(&format!(
                    "something is wrong, as is known after {:.2} s; looking for a short run to it",
                    after.as_secs_f64()
                ));
            }
            line.show(progress);
        })
        .run();
    drop(line);
    Ok(Checked { model, report: result? })
}

/// Tells that a run was found while shorter ones are looked for.
fn tell_best(args: &Args, line: &ProgressLine, progress: &Progress) {
    let wanted = args.shortest && !args.output.quiet && args.format == Format::Human;
    let Some(steps) = progress.best.filter(|_| wanted) else {
        return;
    };
    let states = counted(progress.counts.states, "state");
    line.say(&format!(
        "a run of {} to an error after {states}; looking for a shorter one",
        counted(steps.into(), "step")
    ));
}

/// The run to an error in the model's own terms.
fn replayed(machine: &Machine, error: &ReportedError, keep: Keep) -> Result<Run, Failure> {
    describe(machine, &error.run, error.cycle_index, keep).map_err(|misfit| {
        Failure::internal(format!("the run to an error does not replay: {misfit}"))
    })
}

/// The steps of the runs to all errors, of very long ones the first and the last: hosts refuse more.
fn steps(checked: &Checked) -> Result<Vec<Vec<StepLine>>, Failure> {
    let keep = Keep { first: 500, last: 500 };
    let steps = |error: &ReportedError| {
        let machine = model::machine(&checked.model, error.watched.clone(), Arc::default())?;
        let run = replayed(&machine, error, keep)?;
        Ok(run.first.into_iter().chain(run.last).collect())
    };
    checked.report.errors.iter().map(steps).collect()
}
