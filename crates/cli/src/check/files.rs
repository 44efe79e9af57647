//! What a check writes to files: trails, and pages for browsers.

use std::path::Path;
use std::sync::Arc;

use spinward::Verdict;
use spinward_machine::Violation;
use spinward_trail::run::Keep;
use spinward_trail::{Answer, Listing, Trail};

use super::human::{headline, verdict_line};
use super::{Args, Checked, replayed};
use crate::args::numbered;
use crate::model;
use crate::picture;
use crate::terminal::Failure;
use crate::trail;

/// Writes the trail of each error, and says in the report where.
pub fn write_trails(args: &Args, checked: &mut Checked) {
    let base = args.trail.clone().unwrap_or_else(|| args.model.default_trail());
    for (index, error) in checked.report.errors.iter_mut().enumerate() {
        let path = numbered(&base, index + 1, ".trail");
        let cycle_start = error.cycle_index;
        let trail =
            Trail::of_run(&checked.model.program, error.watched.claim, &error.run, cycle_start);
        error.trail = trail::write(&trail, &path);
    }
}

/// Writes a page for each error, named as trails are; one that says so if there is none.
pub fn write_pages(args: &Args, checked: &Checked, path: &Path) -> Result<(), Failure> {
    let Checked { model, report } = checked;
    let title = args.model.name();
    let verdict_line = verdict_line(report);
    if report.errors.is_empty() {
        let machine = model::machine(model, Default::default(), Arc::default())?;
        let page = spinward_trail::Report {
            machine: &machine,
            steps: &[],
            cycle_start: None,
            title: &title,
            answer: match report.verdict {
                Verdict::Verified => Answer::Fine,
                _ => Answer::Unknown,
            },
            verdict: &[verdict_line],
            notes: &report.notes,
            dimmed: &[],
        };
        return picture::write_page(&page, path, &args.output);
    }
    for (index, error) in report.errors.iter().enumerate() {
        let machine = model::machine(model, error.watched.clone(), Arc::default())?;
        let (steps, cycle_start) = (error.run.as_slice(), error.cycle_index);
        let run = replayed(&machine, error, Keep::SHORT)?;
        let listing = Listing::default();
        let program = &model.program;
        let mut verdict = vec![headline(error)];
        if error.cycle_start.is_none() && error.violation != Violation::ClaimEnd {
            // The headline may say it all.
            let told = listing.violation(program, &run, error.violation).trim_end().to_owned();
            verdict.extend((told != verdict[0]).then_some(told));
            let origins = listing.origins(program, &run, error.violation);
            verdict.extend(origins.lines().map(str::to_owned));
        }
        let dimmed = picture::dimmed(&machine, steps, cycle_start, &error.watched.watched)?;
        let page = spinward_trail::Report {
            machine: &machine,
            steps,
            cycle_start,
            title: &title,
            answer: Answer::Wrong,
            verdict: &verdict,
            notes: &report.notes,
            dimmed: &dimmed,
        };
        picture::write_page(&page, &numbered(path, index + 1, ".html"), &args.output)?;
    }
    Ok(())
}
