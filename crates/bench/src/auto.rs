//! The default search beside every single one: each model is searched with nothing said, then by each of them alone.
//!
//! What is compared is the CPU time until it is certain whether something is wrong, and how long the run is that shows it. What
//! is best for a model nobody knows before; the default search is to be not much worse. No program but ours is needed.
//!
//! The default search runs once before it is measured. In the first round all searches run, but none for much longer than the best before it: it could not be the best. Only those that
//! always tell shortest runs have all the time if there is an error. In later rounds those run that came near to the best.
//!
//! *Invariant:* a model that gives no figures is told with the reason; single searches that give none are among the jobs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::csv::{line, number};
use crate::models;
use crate::ours::{Checked, Variant, first_error};
use crate::process::Limits;
use crate::results::Skipped;
use crate::run::{Job, Watch};
use crate::stats::{geometric_mean, median};
use crate::table::{add_skipped, cell, cut, models as counted, seconds, times};

/// The single searches. The first two that find errors tell shortest runs.
const SINGLE: [&str; 14] = [
    "bfs",
    "astar",
    "sweep",
    "dfs",
    "greedy --guide formula=sum",
    "greedy --guide formula",
    "greedy --guide fsm-sum",
    "greedy --guide dpa",
    "greedy --guide pdb",
    "greedy --guide active",
    "greedy --guide deadlock",
    "greedy --guide message",
    "greedy --guide coverage",
    "greedy --guide interleaving",
];
const TELL_SHORTEST: usize = 2;

/// How much longer than the best so far a search may run, by the clock, and what is measured again.
const LONGER: u32 = 2;
const LEAST_TIME: Duration = Duration::from_secs(1);

/// The default search is to be decided within so many times the time of the best.
const BAR: f64 = 2.0;

/// A command that takes less does little more than start.
const MOMENT: f64 = 0.02;

/// Longer names of models are cut, at the front.
const NAME: usize = 34;

/// What to run.
#[derive(Debug)]
pub struct AutoPlan {
    /// The models.
    pub models: Vec<PathBuf>,
    /// Options that all searches have.
    pub options: Vec<Variant>,
    /// Our program.
    pub program: PathBuf,
    /// How often everything is measured.
    pub rounds: usize,
    /// Time for each program that is run.
    pub time: Duration,
    /// Bytes for each search.
    pub memory: u64,
}

/// A model by the default search and by the best single one.
#[derive(Clone, Debug)]
pub struct AutoRow {
    /// The model.
    pub model: String,
    /// Options that all searches had.
    pub options: String,
    /// What the default search says.
    pub verdict: String,
    /// The single search that decided it first.
    pub best: String,
    /// CPU seconds until it was decided: by the default search, and by the best.
    pub cpu: [f64; 2],
    /// Steps of the run of the default search, and of the shortest of all.
    pub steps: [Option<u64>; 2],
    /// What differs, if anything does.
    pub difference: Option<String>,
}

impl AutoRow {
    fn ratio(&self) -> f64 {
        self.cpu[0] / self.cpu[1]
    }

    fn is_shortest(&self) -> bool {
        self.steps[0] == self.steps[1]
    }
}

/// What came out.
#[derive(Debug, Default)]
pub struct AutoResults {
    /// By options and model.
    pub rows: Vec<AutoRow>,
    /// Models that gave no figures.
    pub skipped: Vec<Skipped>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

impl AutoResults {
    /// How many models have different verdicts.
    pub fn differences(&self) -> usize {
        self.rows.iter().filter(|row| row.difference.is_some()).count()
    }
}

/// The rounds of one search.
#[derive(Debug)]
struct Series {
    /// The default search, if it is none of the single ones.
    single: Option<usize>,
    variant: Variant,
    rounds: Vec<Checked>,
    failed: Option<String>,
}

impl Series {
    fn decided(&self) -> Option<f64> {
        median(&self.rounds.iter().map(|it| it.decided).collect::<Vec<_>>())
    }
}

/// Runs the plan, until it is done or `stop` is set.
pub fn run_auto(plan: &AutoPlan, stop: &AtomicBool, watch: &mut dyn Watch) -> AutoResults {
    let mut results = AutoResults::default();
    let names = models::short_names(&plan.models);
    let of = plan.models.len();
    for options in &plan.options {
        for (index, (path, name)) in plan.models.iter().zip(&names).enumerate() {
            let skip = |program: &str, reason: String| {
                let (model, program) = (name.clone(), program.to_owned());
                Skipped { model, program, reason }
            };
            let (folder, file) = match models::copy_surroundings(path) {
                Ok(copy) => copy,
                Err(problem) => {
                    results.skipped.push(skip("copy", problem.to_string()));
                    continue;
                }
            };
            let mut begins = |variant: &Variant| {
                watch.begins("measuring", index + 1, of, name, &variant.label);
            };
            let series = measure(plan, options, (folder.path(), &file), stop, &mut begins);
            for series in &series {
                let program = || series.variant.label.clone();
                for (round, checked) in (1..).zip(&series.rounds) {
                    let outcome = Ok(checked.measured);
                    watch.done(&Job { round, model: name.clone(), program: program(), outcome });
                }
                if let Some(reason) = &series.failed {
                    let (round, outcome) = (series.rounds.len() + 1, Err(reason.clone()));
                    watch.done(&Job { round, model: name.clone(), program: program(), outcome });
                }
            }
            if stop.load(Ordering::SeqCst) {
                results.interrupted = true;
                return results;
            }
            match compare(name, options, &series) {
                Ok(row) => results.rows.push(row),
                Err((program, reason)) => results.skipped.push(skip(&program, reason)),
            }
        }
    }
    results
}

/// All searches of a model, in rounds.
fn measure(
    plan: &AutoPlan,
    options: &Variant,
    (folder, file): (&Path, &str),
    stop: &AtomicBool,
    begins: &mut dyn FnMut(&Variant),
) -> Vec<Series> {
    let of = |single: Option<usize>| {
        let search = single.map(|it| format!("--search {} --shorten off ", SINGLE[it]));
        let variant = Variant::new(&(search.unwrap_or_default() + &options.options().join(" ")));
        Series { single, variant, rounds: Vec::new(), failed: None }
    };
    let mut all: Vec<Series> =
        std::iter::once(None).chain((0..SINGLE.len()).map(Some)).map(of).collect();
    // Not measured: what is read for the first time takes longer.
    let limits = Limits { time: plan.time, memory: plan.memory, stop };
    begins(&all[0].variant);
    let first = first_error(&plan.program, &all[0].variant, folder, file, limits);
    let (is_wrong, mut least) = match first {
        // By the clock: what was best so far took so long, all in all.
        Ok(it) => {
            (it.verdict == "violated", Duration::from_secs_f64(it.measured.seconds.unwrap_or(0.0)))
        }
        Err(reason) => {
            all[0].failed = Some(reason);
            return all;
        }
    };
    for round in 0..plan.rounds {
        let best = all[1..].iter().filter_map(Series::decided).reduce(f64::min);
        for series in &mut all {
            let near = best.zip(series.decided()).is_some_and(|(best, it)| it <= BAR * best);
            if round > 0 && !near && (series.single.is_some() || series.rounds.is_empty()) {
                continue;
            }
            let tells_shortest = is_wrong && series.single.is_some_and(|it| it < TELL_SHORTEST);
            let enough = (least * LONGER).max(LEAST_TIME);
            let has_all = tells_shortest || series.single.is_none();
            let time = if has_all { plan.time } else { plan.time.min(enough) };
            let limits = Limits { time, memory: plan.memory, stop };
            begins(&series.variant);
            match first_error(&plan.program, &series.variant, folder, file, limits) {
                Ok(checked) => {
                    let seconds = checked.measured.seconds.unwrap_or_default();
                    least = least.min(Duration::from_secs_f64(seconds));
                    series.rounds.push(checked);
                }
                Err(reason) => series.failed = Some(reason),
            }
            if stop.load(Ordering::SeqCst) {
                return all;
            }
        }
    }
    all
}

/// The default search beside the others; or which search gave no figures, and why.
fn compare(model: &str, options: &Variant, all: &[Series]) -> Result<AutoRow, (String, String)> {
    let (auto, singles) = all.split_first().expect("the default search is there");
    let why = |it: &Series| (it.variant.label.clone(), it.failed.clone().unwrap_or_default());
    let (Some(mine), Some(decided)) = (auto.rounds.last(), auto.decided()) else {
        return Err(why(auto));
    };
    let known = singles.iter().filter_map(|it| Some((it, it.decided()?)));
    let Some((best, least)) = known.min_by(|one, other| one.1.total_cmp(&other.1)) else {
        return Err(why(&singles[0]));
    };
    let runs = all.iter().flat_map(|it| &it.rounds);
    let differs = |it: &&Series| it.rounds.iter().any(|round| round.verdict != mine.verdict);
    Ok(AutoRow {
        model: model.to_owned(),
        options: options.label.clone(),
        verdict: mine.verdict.clone(),
        best: best.single.map(|it| SINGLE[it].to_owned()).unwrap_or_default(),
        cpu: [decided, least],
        steps: [mine.steps, runs.filter_map(|it| it.steps).min()],
        difference: singles.iter().find(differs).map(|other| {
            let theirs = other.rounds.last().map_or("", |it| &it.verdict);
            format!("{theirs} with {}", other.variant.label)
        }),
    })
}

/// The results for people.
pub fn table(results: &AutoResults) -> String {
    let mut text = String::new();
    let mut options: Vec<&str> = results.rows.iter().map(|row| &*row.options).collect();
    options.dedup();
    for options in options {
        let rows: Vec<_> = results.rows.iter().filter(|row| row.options == options).collect();
        add_rows(&mut text, options, &rows);
    }
    add_skipped(&mut text, &results.skipped);
    match results.differences() {
        0 => {}
        1 => text.push_str("1 model has different verdicts: a defect.\n"),
        more => {
            let _ = writeln!(text, "{more} models have different verdicts: a defect.");
        }
    }
    if results.interrupted {
        text.push_str("Interrupted: these are the models that were finished.\n");
    }
    text
}

fn add_rows(text: &mut String, options: &str, rows: &[&AutoRow]) {
    let _ = writeln!(text, "spinward check {options} | with --search");
    let _ = writeln!(
        text,
        "{:NAME$} {:10} |{:^23}|{:^17}|",
        "", "", "CPU seconds to decide", "steps of the run"
    );
    let _ = writeln!(
        text,
        "{:NAME$} {:10} |{:>8}{:>8}{:>7}|{:>8}{:>9}| the best",
        "model", "verdict", "default", "best", "ratio", "default", "shortest"
    );
    for row in rows {
        let steps = |at: usize| row.steps[at].map_or_else(|| "-".to_owned(), |it| it.to_string());
        let _ = write!(
            text,
            "{:NAME$} {:10} |{}{}{}|{:>8}{:>9}| {}",
            cut(&row.model, NAME),
            row.verdict,
            cell(Some(row.cpu[0]), 8, seconds),
            cell(Some(row.cpu[1]), 8, seconds),
            cell(Some(row.ratio()), 7, times),
            steps(0),
            steps(1),
            row.best,
        );
        if let Some(difference) = &row.difference {
            let _ = write!(text, "  DIFFERS: {difference}");
        }
        text.push('\n');
    }
    let ratios: Vec<f64> = rows.iter().map(|row| row.ratio()).collect();
    let worst = rows.iter().max_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    let (mean, worst) = (geometric_mean(&ratios), worst.map(|row| (row.ratio(), &row.model)));
    if let (Some(mean), Some((ratio, model))) = (mean, worst) {
        let above = || rows.iter().filter(|row| row.ratio() > BAR);
        let slow = above().filter(|row| row.cpu[0] > MOMENT).count();
        let _ = writeln!(
            text,
            "{}: {} times the CPU seconds of the best in geometric mean, at most {} ({model}); {} above {BAR}, {slow} of \
             them in more than {MOMENT} s.",
            counted(rows.len()),
            times(mean),
            times(ratio),
            above().count(),
        );
    }
    let wrong = rows.iter().filter(|row| row.steps[0].is_some());
    let shortest = wrong.clone().filter(|row| row.is_shortest()).count();
    let _ = writeln!(
        text,
        "Runs that are as short as the shortest: {shortest} of {}.\n",
        wrong.count()
    );
}

/// The names of the columns of [`result`].
pub const RESULTS: &str = "model,spinward,verdict,best,cpu_seconds,best_cpu_seconds,cpu_seconds_ratio,\
steps,shortest_steps,difference\n";

/// A comparison as a line.
pub fn result(row: &AutoRow) -> String {
    let mut fields =
        vec![row.model.clone(), row.options.clone(), row.verdict.clone(), row.best.clone()];
    fields.extend([row.cpu[0], row.cpu[1], row.ratio()].map(|it| number(Some(it))));
    fields.extend(row.steps.map(|steps| steps.map_or_else(String::new, |it| it.to_string())));
    fields.push(row.difference.clone().unwrap_or_default());
    line(&fields)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn series(single: Option<usize>, rounds: &[(f64, Option<u64>)]) -> Series {
        let verdict = |steps: Option<u64>| if steps.is_some() { "violated" } else { "verified" };
        let checked = |&(decided, steps)| Checked {
            decided,
            steps,
            verdict: verdict(steps).into(),
            ..Checked::default()
        };
        let variant = Variant::new(&single.map(|it| SINGLE[it].to_owned()).unwrap_or_default());
        let failed = rounds.is_empty().then(|| "time limit".into());
        Series { single, variant, rounds: rounds.iter().map(checked).collect(), failed }
    }

    fn example() -> AutoResults {
        let options = Variant::new("--threads 1");
        let wrong = [
            series(None, &[(0.5, Some(9)), (0.6, Some(9)), (0.4, Some(9))]),
            series(Some(0), &[(2.0, Some(7))]),
            series(Some(1), &[]),
            series(Some(3), &[(0.2, Some(80)), (0.1, Some(80)), (0.3, Some(80))]),
        ];
        let right = [series(None, &[(3.0, None)]), series(Some(2), &[(2.0, None)])];
        let odd = [series(None, &[(0.01, None)]), series(Some(0), &[(0.01, Some(3))])];
        let models = [("wrong.pml", &wrong[..]), ("right.pml", &right), ("odd.pml", &odd)];
        let rows = models.map(|(model, all)| compare(model, &options, all).expect("figures"));
        let (model, program) = ("huge.pml".into(), "--threads 1".into());
        let skipped = vec![Skipped { model, program, reason: "spinward: time limit".into() }];
        AutoResults { rows: rows.to_vec(), skipped, interrupted: false }
    }

    #[test]
    fn a_table_shows_everything() {
        expect![[r#"
            spinward check --threads 1 | with --search
                                                          | CPU seconds to decide |steps of the run |
            model                              verdict    | default    best  ratio| default shortest| the best
            wrong.pml                          violated   |   0.500   0.200   2.50|       9        7| dfs
            right.pml                          verified   |    3.00    2.00   1.50|       -        -| sweep
            odd.pml                            verified   |   0.010   0.010   1.00|       -        3| bfs  DIFFERS: violated with bfs
            3 models: 1.55 times the CPU seconds of the best in geometric mean, at most 2.50 (wrong.pml); 1 above 2, 1 of them in more than 0.02 s.
            Runs that are as short as the shortest: 0 of 1.

            Skipped:
              huge.pml  --threads 1: spinward: time limit

            1 model has different verdicts: a defect.
        "#]].assert_eq(&table(&example()));
    }

    #[test]
    fn results_as_lines() {
        let lines: String = example().rows.iter().map(result).collect();
        expect![[r#"
            model,spinward,verdict,best,cpu_seconds,best_cpu_seconds,cpu_seconds_ratio,steps,shortest_steps,difference
            wrong.pml,--threads 1,violated,dfs,0.5000,0.2000,2.5000,9,7,
            right.pml,--threads 1,verified,sweep,3.0000,2.0000,1.5000,,,
            odd.pml,--threads 1,verified,bfs,0.0100,0.0100,1.0000,,3,violated with bfs
        "#]].assert_eq(&(RESULTS.to_owned() + &lines));
    }

    #[test]
    fn what_has_no_figures_is_told_with_the_reason() {
        let options = Variant::new("");
        let all = [series(None, &[(1.0, None)]), series(Some(0), &[])];
        let reason = compare("m.pml", &options, &all).expect_err("nothing to compare with");
        assert_eq!(reason, ("bfs".to_owned(), "time limit".to_owned()));
    }
}
