//! Which jobs are run, and in which order: one at a time, in turn.
//!
//! The machine is never quite at rest. Programs that are measured minutes apart are measured in
//! different weather; so in every round each model is given to all programs one after the other, and
//! what is compared are medians over the rounds.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;

use crate::measure::Measured;
use crate::models;
use crate::ours::{self, Variant};
use crate::process::Limits;
use crate::results::{Results, Row, Skipped};
use crate::spin::{self, Mode, Tuned};
use crate::stateright::Stateright;

/// What to run.
#[derive(Debug)]
pub struct Plan {
    /// The models.
    pub models: Vec<PathBuf>,
    /// How SPIN searches; models are picked by the first one.
    pub modes: Vec<&'static Mode>,
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
    /// Which of the models to measure.
    pub pick: Pick,
    /// Models that are written for Stateright too.
    pub stateright: Option<Stateright>,
}

/// Which models to measure, by what SPIN says of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pick {
    /// Only those with the most states.
    pub largest: Option<usize>,
    /// Only those with so many states.
    pub min_states: u64,
    /// Only those with a verdict after this time.
    pub finish_within: Option<Duration>,
}

/// A job that is over.
#[derive(Clone, Debug)]
pub struct Job {
    /// From 1; 0 is the round that finds out what SPIN must be told, and is not measured.
    pub round: usize,
    /// The model.
    pub model: String,
    /// The program, and how it searched.
    pub program: String,
    /// Its figures, or why there are none.
    pub outcome: Result<Measured, String>,
}

/// Somebody who wants to know how far the run is.
pub trait Watch {
    /// A job begins: which of how many of this part of the run.
    fn begins(&mut self, part: &str, number: usize, of: usize, model: &str, program: &str);

    /// A job is over.
    fn done(&mut self, job: &Job);
}

/// A program, and how it searches.
#[derive(Clone, Debug)]
enum Program {
    Spin(&'static Mode, Tuned),
    Stateright,
    Ours(Variant),
}

impl Program {
    fn label(&self) -> String {
        match self {
            Self::Spin(mode, _) => spin_label(mode),
            Self::Stateright => "Stateright".to_owned(),
            Self::Ours(variant) => format!("spinward {}", variant.label),
        }
    }
}

fn spin_label(mode: &Mode) -> String {
    format!("SPIN {}", mode.name)
}

/// A model, and what was measured of it.
#[derive(Debug)]
struct Subject {
    name: String,
    folder: TempDir,
    file: String,
    series: Vec<Series>,
}

/// The rounds of one program on one model.
#[derive(Debug)]
struct Series {
    program: Program,
    rounds: Vec<Measured>,
    failed: bool,
}

impl Series {
    fn new(program: Program) -> Self {
        Self { program, rounds: Vec::new(), failed: false }
    }
}

/// Runs the plan, until it is done or `stop` is set.
pub fn run(plan: &Plan, stop: &AtomicBool, watch: &mut dyn Watch) -> Results {
    let limits = Limits { time: plan.time, memory: plan.memory, stop };
    let mut bench = Bench { plan, limits, watch, results: Results::default() };
    let mut subjects = bench.prepare();
    bench.measure(&mut subjects);
    bench.compare(&subjects);
    bench.results.interrupted = stop.load(Ordering::SeqCst);
    bench.results
}

struct Bench<'a> {
    plan: &'a Plan,
    limits: Limits<'a>,
    watch: &'a mut dyn Watch,
    results: Results,
}

impl Bench<'_> {
    fn stopped(&self) -> bool {
        self.limits.stop.load(Ordering::SeqCst)
    }

    /// The models to measure, with what SPIN must be told of each.
    fn prepare(&mut self) -> Vec<Subject> {
        let known = self.look_at(&self.plan.models, None);
        let figures: Vec<Measured> = known.iter().map(|(_, first)| *first).collect();
        let (chosen, left_out) = pick(&figures, self.plan.pick);
        self.results.left_out = left_out;
        let mut known: Vec<_> = known.into_iter().map(|(subject, _)| Some(subject)).collect();
        let mut subjects: Vec<Subject> =
            chosen.into_iter().filter_map(|index| known[index].take()).collect();
        if let Some(stateright) = &self.plan.stateright {
            let twins = self.look_at(stateright.models(), Some(Program::Stateright));
            subjects.extend(twins.into_iter().map(|(subject, _)| subject));
        }
        subjects
    }

    /// Models with what SPIN must be told of each, and its figures by the first mode.
    fn look_at(&mut self, paths: &[PathBuf], also: Option<Program>) -> Vec<(Subject, Measured)> {
        let mut known = Vec::new();
        for (index, (path, name)) in paths.iter().zip(models::short_names(paths)).enumerate() {
            let (folder, file) = match models::copy_surroundings(path) {
                Ok(copy) => copy,
                Err(problem) => {
                    self.skip(&name, "copy", problem.to_string());
                    continue;
                }
            };
            let place = (index + 1, paths.len());
            if let Some((mut programs, first)) = self.tune(&name, folder.path(), &file, place) {
                programs.extend(also.clone());
                programs.extend(self.plan.ours.iter().cloned().map(Program::Ours));
                let series = programs.into_iter().map(Series::new).collect();
                known.push((Subject { name, folder, file, series }, first));
            }
            if self.stopped() {
                break;
            }
        }
        known
    }

    /// The modes of SPIN that can be used with a model, and the figures of the first one; `None` if
    /// that cannot be used, since nothing can be picked then.
    fn tune(
        &mut self,
        name: &str,
        dir: &Path,
        file: &str,
        (number, of): (usize, usize),
    ) -> Option<(Vec<Program>, Measured)> {
        let mut programs = Vec::new();
        let mut first = None;
        for &mode in &self.plan.modes {
            let label = spin_label(mode);
            self.watch.begins("looking at", number, of, name, &label);
            let outcome = spin::tune(mode, dir, file, self.limits);
            if self.stopped() {
                return None;
            }
            let figures = outcome.as_ref().map(|(_, measured)| *measured).map_err(String::clone);
            self.done(0, name, &label, figures);
            match outcome {
                Ok((tuned, measured)) => {
                    programs.push(Program::Spin(mode, tuned));
                    first.get_or_insert(measured);
                }
                Err(_) if first.is_none() => return None,
                Err(_) => {}
            }
        }
        first.map(|first| (programs, first))
    }

    /// All rounds.
    fn measure(&mut self, subjects: &mut [Subject]) {
        let each: usize = subjects.iter().map(|subject| subject.series.len()).sum();
        let mut number = 0;
        for round in 1..=self.plan.rounds {
            for subject in &mut *subjects {
                for series in &mut subject.series {
                    number += 1;
                    if self.stopped() {
                        return;
                    }
                    if series.failed {
                        continue;
                    }
                    let label = series.program.label();
                    let of = each * self.plan.rounds;
                    self.watch.begins("measuring", number, of, &subject.name, &label);
                    let outcome = self.job(&series.program, subject.folder.path(), &subject.file);
                    // A job that the user stopped has not failed.
                    if self.stopped() {
                        return;
                    }
                    match &outcome {
                        Ok(measured) => series.rounds.push(*measured),
                        Err(_) => series.failed = true,
                    }
                    self.done(round, &subject.name, &label, outcome);
                }
            }
        }
    }

    fn job(&self, program: &Program, dir: &Path, file: &str) -> Result<Measured, String> {
        match program {
            Program::Spin(mode, tuned) => spin::verify(mode, dir, file, *tuned, self.limits),
            Program::Stateright => match &self.plan.stateright {
                Some(stateright) => stateright.check(file, self.limits),
                None => Err("stateright: it is not part of the plan".to_owned()),
            },
            Program::Ours(variant) => {
                let checked = ours::check(&self.plan.program, variant, dir, file, self.limits)?;
                Ok(checked.measured)
            }
        }
    }

    /// Puts the programs beside each other.
    fn compare(&mut self, subjects: &[Subject]) {
        for subject in subjects {
            let series = || subject.series.iter().filter(|series| !series.failed);
            for theirs in series().filter(|it| !matches!(it.program, Program::Ours(_))) {
                for ours in series() {
                    let Program::Ours(variant) = &ours.program else {
                        continue;
                    };
                    let rival = theirs.program.label();
                    let row = Row::new(
                        &subject.name,
                        (&rival, &theirs.rounds),
                        (&variant.label, &ours.rounds),
                    );
                    self.results.rows.extend(row);
                }
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

/// The models to measure, the largest first where the largest are asked for; and why others are
/// not.
fn pick(figures: &[Measured], pick: Pick) -> (Vec<usize>, Vec<(usize, String)>) {
    let mut left_out = Vec::new();
    let mut chosen: Vec<usize> = (0..figures.len()).collect();
    let mut keep = |chosen: &mut Vec<usize>, why: String, test: &dyn Fn(&Measured) -> bool| {
        let before = chosen.len();
        chosen.retain(|&index| test(&figures[index]));
        if chosen.len() < before {
            left_out.push((before - chosen.len(), why));
        }
    };
    let few = format!("fewer than {} states", pick.min_states);
    keep(&mut chosen, few, &|it| it.states >= pick.min_states);
    if let Some(limit) = pick.finish_within {
        let limit = limit.as_secs_f64();
        let slow = format!("SPIN takes longer than {limit} s");
        keep(&mut chosen, slow, &|it| it.seconds.is_some_and(|seconds| seconds <= limit));
    }
    if let Some(largest) = pick.largest {
        chosen.sort_by_key(|&index| std::cmp::Reverse(figures[index].states));
        if chosen.len() > largest {
            left_out.push((chosen.len() - largest, format!("not among the {largest} largest")));
            chosen.truncate(largest);
        }
    }
    (chosen, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Vec<Measured> {
        let known = [(500, 1.0), (2_000, 9.0), (30, 1.0), (4_000, 2.0)];
        known
            .map(|(states, seconds)| Measured {
                states,
                seconds: Some(seconds),
                ..Measured::default()
            })
            .to_vec()
    }

    #[test]
    fn all_are_picked_in_their_order() {
        assert_eq!(pick(&figures(), Pick::default()), (vec![0, 1, 2, 3], vec![]));
    }

    #[test]
    fn the_largest_are_picked_largest_first() {
        let (chosen, left_out) =
            pick(&figures(), Pick { largest: Some(2), min_states: 100, finish_within: None });
        assert_eq!(chosen, [3, 1]);
        let told: Vec<_> = left_out.iter().map(|(number, why)| (*number, why.as_str())).collect();
        assert_eq!(told, [(1, "fewer than 100 states"), (1, "not among the 2 largest")]);
    }

    #[test]
    fn slow_ones_can_be_left_out() {
        let limit = Some(Duration::from_secs(5));
        let (chosen, left_out) = pick(&figures(), Pick { finish_within: limit, ..Pick::default() });
        assert_eq!(chosen, [0, 2, 3]);
        assert_eq!(left_out, [(1, "SPIN takes longer than 5 s".to_owned())]);
    }
}
