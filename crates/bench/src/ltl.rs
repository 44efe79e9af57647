//! Temporal properties: each one that a model states is given to SPIN and to us, once for all runs and
//! once for the weakly fair ones.
//!
//! The order is that of `run.rs`: one job at a time, and in every round each property is given to all
//! programs one after the other. SPIN searches with its defaults, partial-order reduction included. Its
//! verifiers are compiled once, before the rounds, because compiling is not counted here: what is
//! compared is the CPU time of the search, the verdict, and how long the run is that shows a violation.
//!
//! *Invariant:* a property that SPIN states and one of the programs cannot judge is told with the reason.

mod check;
mod csv;
mod properties;
mod results;
mod table;
mod trail;
mod verifier;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;

pub use self::csv::{RESULTS, result};
use self::properties::Property;
use self::results::Judged;
#[cfg(test)]
pub(crate) use self::results::tests::example;
pub use self::results::{LtlResults, LtlRow, Verdict};
pub use self::table::table;
use self::trail::Run;
use self::verifier::Tuned;
use crate::measure::Measured;
use crate::models;
use crate::ours::Variant;
use crate::process::Limits;
use crate::results::Skipped;
use crate::run::{Job, Watch};

/// What to run.
#[derive(Debug)]
pub struct LtlPlan {
    /// The models.
    pub models: Vec<PathBuf>,
    /// How we search.
    pub ours: Vec<Variant>,
    /// Our program.
    pub program: PathBuf,
    /// How often everything is measured.
    pub rounds: usize,
    /// Time for each program that is run.
    pub time: Duration,
    /// Bytes for each search.
    pub memory: u64,
}

/// A model in a folder of its own, with what SPIN made of it.
#[derive(Debug)]
struct Copy {
    name: String,
    folder: TempDir,
    file: String,
}

/// A property of a model, for all runs or the fair ones, and what was measured of it.
#[derive(Debug)]
struct Subject {
    /// Its model, by its number.
    copy: usize,
    property: Property,
    fair: bool,
    series: Vec<Series>,
}

/// The rounds of one program on one subject.
#[derive(Debug)]
struct Series {
    program: Program,
    rounds: Vec<Judged>,
    failed: bool,
}

#[derive(Debug)]
enum Program {
    Spin(Tuned),
    Ours(Variant),
}

impl Program {
    fn label(&self, fair: bool) -> String {
        match self {
            Self::Spin(_) => spin_label(fair).to_owned(),
            Self::Ours(variant) if fair => format!("spinward {} --fair weak", variant.label),
            Self::Ours(variant) => format!("spinward {}", variant.label),
        }
    }
}

/// SPIN, as it is told to the user.
fn spin_label(fair: bool) -> &'static str {
    if fair { "SPIN -a -f" } else { "SPIN -a" }
}

/// Runs the plan, until it is done or `stop` is set.
pub fn run_ltl(plan: &LtlPlan, stop: &AtomicBool, watch: &mut dyn Watch) -> LtlResults {
    let limits = Limits { time: plan.time, memory: plan.memory, stop };
    let (copies, results) = (Vec::new(), LtlResults::default());
    let mut bench = Bench { plan, limits, watch, copies, results };
    let mut subjects = bench.prepare();
    bench.measure(&mut subjects);
    bench.compare(&subjects);
    bench.results.interrupted = stop.load(Ordering::SeqCst);
    bench.results
}

struct Bench<'a> {
    plan: &'a LtlPlan,
    limits: Limits<'a>,
    watch: &'a mut dyn Watch,
    copies: Vec<Copy>,
    results: LtlResults,
}

impl Bench<'_> {
    fn stopped(&self) -> bool {
        self.limits.stop.load(Ordering::SeqCst)
    }

    /// The properties of all models, with what SPIN must be told of each.
    fn prepare(&mut self) -> Vec<Subject> {
        let mut subjects = Vec::new();
        let paths = &self.plan.models;
        for (index, (path, name)) in paths.iter().zip(models::short_names(paths)).enumerate() {
            let (folder, file) = match models::copy_surroundings(path) {
                Ok(copy) => copy,
                Err(problem) => {
                    self.skip(&name, "copy", problem.to_string());
                    continue;
                }
            };
            let copy = self.copies.len();
            self.watch.begins("reading", index + 1, paths.len(), &name, "SPIN");
            let stated = verifier::generate(folder.path(), &file, self.limits);
            if self.stopped() {
                break;
            }
            match stated {
                Ok(stated) if stated.is_empty() => self.results.without += 1,
                Ok(stated) => {
                    self.copies.push(Copy { name, folder, file });
                    for property in stated {
                        let place = (index + 1, paths.len());
                        subjects.extend(self.tune(copy, &property, false, place));
                        subjects.extend(self.tune(copy, &property, true, place));
                    }
                }
                Err(reason) => self.done(0, &name, "SPIN", Err(reason)),
            }
            if self.stopped() {
                break;
            }
        }
        subjects
    }

    /// A property with what SPIN must be told of it; `None` if SPIN cannot judge it, since there is
    /// nothing to compare with then.
    fn tune(
        &mut self,
        copy: usize,
        property: &Property,
        fair: bool,
        (number, of): (usize, usize),
    ) -> Option<Subject> {
        if self.stopped() {
            return None;
        }
        let Copy { name, folder, file } = &self.copies[copy];
        let title = title(name, property);
        self.watch.begins("looking at", number, of, &title, spin_label(fair));
        let outcome = verifier::tune(folder.path(), file, property, fair, self.limits);
        if self.stopped() {
            return None;
        }
        let figures = outcome.as_ref().map(|(_, judged)| judged.measured).map_err(String::clone);
        self.done(0, &title, spin_label(fair), figures);
        let (tuned, _) = outcome.ok()?;
        let ours = self.plan.ours.iter().cloned().map(Program::Ours);
        let programs = std::iter::once(Program::Spin(tuned)).chain(ours);
        let series =
            programs.map(|program| Series { program, rounds: Vec::new(), failed: false }).collect();
        Some(Subject { copy, property: property.clone(), fair, series })
    }

    /// All rounds.
    fn measure(&mut self, subjects: &mut [Subject]) {
        let each: usize = subjects.iter().map(|subject| subject.series.len()).sum();
        let of = each * self.plan.rounds;
        let mut number = 0;
        for round in 1..=self.plan.rounds {
            for Subject { copy, property, fair, series } in &mut *subjects {
                let title = title(&self.copies[*copy].name, property);
                for series in series {
                    number += 1;
                    if self.stopped() {
                        return;
                    }
                    if series.failed {
                        continue;
                    }
                    let label = series.program.label(*fair);
                    self.watch.begins("measuring", number, of, &title, &label);
                    let outcome = self.job(&series.program, &self.copies[*copy], property, *fair);
                    // A job that the user stopped has not failed.
                    if self.stopped() {
                        return;
                    }
                    let figures = outcome.as_ref().map(|it| it.measured).map_err(String::clone);
                    match outcome {
                        Ok(judged) => series.rounds.push(judged),
                        Err(_) => series.failed = true,
                    }
                    self.done(round, &title, &label, figures);
                }
            }
        }
    }

    fn job(
        &self,
        program: &Program,
        Copy { folder, file, .. }: &Copy,
        property: &Property,
        fair: bool,
    ) -> Result<Judged, String> {
        let dir = folder.path();
        match program {
            Program::Spin(tuned) => {
                let judged = verifier::verify(dir, file, property, fair, *tuned, self.limits)?;
                let Some(run) = judged.run else {
                    return Ok(judged);
                };
                let steps = trail::statements(&self.plan.program, dir, file, self.limits)?;
                Ok(Judged { run: Some(Run { steps, ..run }), ..judged })
            }
            Program::Ours(variant) => {
                let ours = &self.plan.program;
                check::check(ours, variant, dir, file, property, fair, self.limits)
            }
        }
    }

    /// Puts the programs beside each other.
    fn compare(&mut self, subjects: &[Subject]) {
        for subject in subjects {
            let mut series = subject.series.iter().filter(|series| !series.failed);
            let theirs = series.next();
            let Some(Series { program: Program::Spin(tuned), rounds: theirs, .. }) = theirs else {
                continue;
            };
            for ours in series {
                let Program::Ours(variant) = &ours.program else {
                    continue;
                };
                let row = LtlRow::new(
                    &self.copies[subject.copy].name,
                    &subject.property.name,
                    subject.fair,
                    &variant.label,
                    (theirs, &ours.rounds),
                );
                let reduced = tuned.reduced();
                self.results.rows.extend(row.map(|row| LtlRow { reduced, ..row }));
            }
        }
    }

    fn done(
        &mut self,
        round: usize,
        model: &str,
        program: &str,
        outcome: Result<Measured, String>,
    ) {
        let job = Job { round, model: model.to_owned(), program: program.to_owned(), outcome };
        self.watch.done(&job);
        if let Err(reason) = job.outcome {
            self.skip(model, program, reason);
        }
    }

    fn skip(&mut self, model: &str, program: &str, reason: String) {
        let (model, program) = (model.to_owned(), program.to_owned());
        self.results.skipped.push(Skipped { model, program, reason });
    }
}

/// A property for people: the model, then its name.
fn title(model: &str, property: &Property) -> String {
    format!("{model} {}", property.name)
}
