//! The same check with and without all that leaves out states: do the answers agree?
//!
//! *Idea*: that what is left out makes no difference is proved on paper; whoever does not trust that can see
//! it for the model at hand. Each error that any of the runs found must be found by each that saw everything.

use std::collections::BTreeSet;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use spinward_machine::Violation;
use spinward_search::Place;

use crate::check::Check;
use crate::options::{Optimize, Por};
use crate::report::{ReasonCode, Report, ReportedError, Verdict};
use crate::{Error, run};

/// What came of the same check with and without all that leaves out states.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Audit {
    /// The runs; the first leaves out nothing.
    pub runs: Vec<AuditRun>,
    /// Where their answers differ: there is something wrong with Spinward, not with the model.
    pub disagreements: Vec<String>,
}

/// One run of an audit, to its end and not only to the first error.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditRun {
    /// Whether partial-order reduction was in effect.
    pub por: bool,
    /// Whether that was by transactions, which do not keep invalid end states.
    pub transactions: bool,
    /// Whether interchangeable processes were not told apart.
    pub symmetry: bool,
    /// The optimization in effect.
    pub optimize: &'static str,
    /// Its answer.
    pub verdict: Verdict,
    /// Whether everything was looked at.
    pub complete: bool,
    /// How many states it visited.
    pub states: u64,
    /// How long it took.
    pub seconds: f64,
    /// What it found wrong.
    pub errors: BTreeSet<String>,
    /// The same, as they are compared.
    #[serde(skip)]
    found: Vec<Known>,
}

/// An error that a run found.
#[derive(Clone, Debug)]
struct Known {
    /// Where, and of what kind: what is said of it may depend on the order in which states were visited.
    place: Place,
    property: String,
    /// For people.
    shown: String,
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.property == other.property
    }
}

/// Runs a check, and it again in all ways.
pub(crate) fn audit(check: Check<'_>) -> Result<Report, Error> {
    let again = check.again();
    let mut report = run::run(check)?;
    let mut runs = Vec::new();
    for (optimize, por, symmetry) in ways(&again) {
        let begun = Instant::now();
        let other = again.again().errors(0).optimize(optimize).por(por).symmetry(symmetry);
        let other = run::run(other)?;
        let seconds = begun.elapsed().as_secs_f64();
        let transactions = other.statistics.forced_completions.is_some();
        // What has no effect would be one of the others once more.
        if other.symmetry == symmetry && transactions == (por == Por::Transactions) {
            runs.push(AuditRun::new(&other, seconds));
        }
        if other.reasons.iter().any(|reason| reason.code == ReasonCode::Interrupt) {
            break;
        }
    }
    let disagreements = disagreements(&runs);
    report.audit = Some(Audit { runs, disagreements });
    Ok(report)
}

/// All ways to leave out states, the first of which leaves out none; those that are not usual only if they are
/// asked for.
fn ways(check: &Check<'_>) -> Vec<(Optimize, Por, bool)> {
    let mut ways = Vec::new();
    let transactions = check.por.filter(|&por| por == Por::Transactions);
    for optimize in [Optimize::None, Optimize::Full] {
        let all = [Por::Off, Por::On].into_iter().chain(transactions);
        ways.extend(all.map(|por| (optimize, por, false)));
    }
    if check.symmetry {
        ways.extend([(Optimize::None, Por::Off, true), (Optimize::Full, Por::On, true)]);
    }
    ways
}

impl AuditRun {
    fn new(report: &Report, seconds: f64) -> Self {
        let show = |error: &ReportedError| match (&error.file, error.line) {
            (Some(file), Some(line)) => format!("{} at {file}:{line}", error.message),
            _ => error.message.clone(),
        };
        let known = |error: &ReportedError| Known {
            place: Place::of(error.violation),
            property: error.property.clone(),
            shown: show(error),
        };
        Self {
            por: report.por,
            transactions: report.statistics.forced_completions.is_some(),
            symmetry: report.symmetry,
            optimize: report.optimize,
            verdict: report.verdict,
            complete: report.reasons.iter().all(|it| it.code == ReasonCode::NotChecked),
            states: report.statistics.states,
            seconds,
            errors: report.errors.iter().map(show).collect(),
            found: report.errors.iter().map(known).collect(),
        }
    }

    /// What it leaves out, for people.
    pub fn leaves_out(&self) -> String {
        let options = [
            (self.optimize != "none").then_some("--optimize full"),
            self.transactions.then_some("--por transactions"),
            (self.por && !self.transactions).then_some("--por on"),
            self.symmetry.then_some("--symmetry on"),
        ];
        let options: Vec<_> = options.into_iter().flatten().collect();
        if options.is_empty() { "nothing left out".into() } else { options.join(" ") }
    }
}

/// The errors that were missed by runs that saw everything.
fn disagreements(runs: &[AuditRun]) -> Vec<String> {
    let mut all: Vec<&Known> = Vec::new();
    for error in runs.iter().flat_map(|run| &run.found) {
        if !all.contains(&error) {
            all.push(error);
        }
    }
    let end = Place::of(Violation::InvalidEndState);
    let missed =
        |run: &AuditRun, error: &Known| format!("with {}: {}", run.leaves_out(), error.shown);
    let complete = runs.iter().filter(|run| run.complete);
    complete
        .flat_map(|run| {
            let kept = all.iter().filter(|error| !(run.transactions && error.place == end));
            let others = kept.filter(|error| !run.found.contains(error));
            others.map(|error| missed(run, error)).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use spinward_program::ir::TransitionId;

    use super::*;

    /// With assertions of these names, and an invalid end state that is called `end`.
    fn run(por: bool, complete: bool, errors: &[&str]) -> AuditRun {
        let found = errors.iter().map(|&name| Known {
            place: Place::of(match name {
                "end" => Violation::InvalidEndState,
                _ => Violation::Assertion(TransitionId(name.as_bytes()[0].into())),
            }),
            property: String::new(),
            shown: name.to_owned(),
        });
        let found = found.collect();
        let errors: BTreeSet<_> = errors.iter().map(|&error| error.to_owned()).collect();
        let verdict = if errors.is_empty() { Verdict::Verified } else { Verdict::Violated };
        AuditRun {
            por,
            transactions: false,
            symmetry: false,
            optimize: "none",
            verdict,
            complete,
            states: 1,
            seconds: 0.0,
            errors,
            found,
        }
    }

    #[test]
    fn an_error_must_be_found_by_all_that_saw_everything() {
        let whole = run(false, true, &["a", "b"]);
        assert!(disagreements(&[whole.clone(), run(true, true, &["b", "a"])]).is_empty());
        assert!(disagreements(&[whole.clone(), run(true, false, &["a"])]).is_empty());
        let fewer = run(true, true, &["a"]);
        assert_eq!(disagreements(&[whole.clone(), fewer]), ["with --por on: b"]);
        let ends = run(false, true, &["a", "end"]);
        let transactions = |errors| AuditRun { transactions: true, ..run(true, true, errors) };
        assert!(disagreements(&[ends.clone(), transactions(&["a"])]).is_empty());
        assert_eq!(disagreements(&[ends, transactions(&[])]), ["with --por transactions: a"]);
        // Also if the one that found more did not see everything.
        let limited = run(false, false, &["a"]);
        assert_eq!(disagreements(&[limited, run(true, true, &[])]), ["with --por on: a"]);
    }
}
