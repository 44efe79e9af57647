//! States on disk: each model is searched in memory, and once more with a tenth of that memory and a folder.
//!
//! What is compared is the time from the source to the verdict, and what must not differ: verdicts, states, and the steps of
//! shortest runs to errors. No program but ours is needed.
//!
//! *Invariant:* a search that gives no figures is told with the reason, except that models with few states or too many
//! are only counted.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::measure::Measured;
use crate::models;
use crate::ours::{Checked, Variant, check};
use crate::process::Limits;
use crate::results::Skipped;
use crate::run::{Job, Watch};
use crate::stats::{geometric_mean, median};
use crate::table::add_skipped;

/// How we search if nothing else is said.
pub const WAYS: [&str; 4] = [
    "--search bfs",
    "--search astar --guide formula",
    "--search astar --guide fsm",
    "--search astar --guide active",
];

/// Models with so many states are of interest.
const STATES: RangeInclusive<u64> = 10_000..=5_000_000;

/// What a search needs at least, the program itself included.
const LEAST: u64 = 20 << 20;

/// What to run.
#[derive(Debug)]
pub struct DiskPlan {
    /// The models.
    pub models: Vec<PathBuf>,
    /// How we search.
    pub ways: Vec<Variant>,
    /// Our program.
    pub program: PathBuf,
    /// How often everything is measured.
    pub rounds: usize,
    /// Time for each program that is run.
    pub time: Duration,
    /// Bytes for each search in memory.
    pub memory: u64,
}

/// A model, searched in memory and on disk.
#[derive(Clone, Debug)]
pub struct DiskRow {
    /// The model.
    pub model: String,
    /// How it was searched.
    pub way: String,
    /// States.
    pub states: u64,
    /// What each search was allowed to use, or used: in memory, and on disk.
    pub memory: [u64; 2],
    /// The most memory of the process that had states on disk, as the system tells.
    pub peak: u64,
    /// Seconds from the source to the verdict.
    pub seconds: [f64; 2],
    /// The most bytes on disk.
    pub disk: u64,
    /// What differs, if anything does.
    pub difference: Option<String>,
}

impl DiskRow {
    fn bytes_per_state(&self) -> f64 {
        self.disk as f64 / self.states.max(1) as f64
    }
}

/// What came out.
#[derive(Debug, Default)]
pub struct DiskResults {
    /// By model and way.
    pub rows: Vec<DiskRow>,
    /// What gave no figures.
    pub skipped: Vec<Skipped>,
    /// How many models have too few states, or too many.
    pub left_out: usize,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

impl DiskResults {
    /// How many searches on disk found something else.
    pub fn differences(&self) -> usize {
        self.rows.iter().filter(|row| row.difference.is_some()).count()
    }
}

/// Runs the plan, until it is done or `stop` is set.
pub fn run_disk(plan: &DiskPlan, stop: &AtomicBool, watch: &mut dyn Watch) -> DiskResults {
    let mut results = DiskResults::default();
    let of = plan.models.len();
    for (index, (path, name)) in
        plan.models.iter().zip(models::short_names(&plan.models)).enumerate()
    {
        let mut skip = |program: &str, reason: String| {
            results.skipped.push(Skipped { model: name.clone(), program: program.into(), reason });
        };
        let (folder, file) = match models::copy_surroundings(path) {
            Ok(copy) => copy,
            Err(problem) => {
                skip("copy", problem.to_string());
                continue;
            }
        };
        for way in &plan.ways {
            let mut best = |options: &str, memory: u64| -> Result<(Checked, f64), String> {
                let variant = Variant::new(&format!("{} {options}", way.label));
                let limits = Limits { time: plan.time, memory, stop };
                let (mut last, mut seconds) = (None, Vec::new());
                for round in 1..=plan.rounds {
                    watch.begins("measuring", index + 1, of, &name, &variant.label);
                    let outcome = check(&plan.program, &variant, folder.path(), &file, limits);
                    let figures = outcome.as_ref().map(|it| it.measured).map_err(String::clone);
                    let (model, program) = (name.clone(), variant.label.clone());
                    watch.done(&Job { round, model, program, outcome: figures });
                    let checked = outcome?;
                    seconds.extend(checked.measured.seconds);
                    last = Some(checked);
                }
                let seconds = median(&seconds).unwrap_or_default();
                last.map(|last| (last, seconds)).ok_or_else(|| "no round".into())
            };
            let in_memory = best("--store tree", plan.memory);
            if stop.load(Ordering::SeqCst) {
                results.interrupted = true;
                return results;
            }
            let (in_memory, before) = match in_memory {
                Ok(it) if STATES.contains(&it.0.measured.states) => it,
                Ok(_) => {
                    results.left_out += 1;
                    break;
                }
                Err(reason) => {
                    skip(&way.label, reason);
                    continue;
                }
            };
            let memory = (in_memory.peak_memory / 10).max(LEAST);
            match best("--disk states", memory) {
                Ok((on_disk, after)) => {
                    let Measured { states, .. } = in_memory.measured;
                    results.rows.push(DiskRow {
                        model: name.clone(),
                        way: way.label.clone(),
                        states,
                        memory: [in_memory.peak_memory, memory],
                        peak: on_disk.measured.peak,
                        seconds: [before, after],
                        disk: on_disk.disk_bytes,
                        difference: difference(&in_memory, &on_disk),
                    });
                }
                Err(reason) => skip(&format!("{} --disk", way.label), reason),
            }
            if stop.load(Ordering::SeqCst) {
                results.interrupted = true;
                return results;
            }
        }
    }
    results
}

/// What differs between two searches that must find the same.
fn difference(one: &Checked, other: &Checked) -> Option<String> {
    let states = |it: &Checked| it.measured.states;
    let verdict = |it: &Checked| it.verdict.clone();
    if verdict(one) != verdict(other) {
        return Some(format!("{}, on disk {}", verdict(one), verdict(other)));
    }
    if states(one) != states(other) {
        return Some(format!("{} states, on disk {}", states(one), states(other)));
    }
    let (ours, theirs) = (one.shortest, other.shortest);
    (ours.is_some() && theirs.is_some() && ours != theirs)
        .then(|| format!("{ours:?} steps, on disk {theirs:?}"))
}

/// The results for people.
pub fn table(results: &DiskResults) -> String {
    let mut text = String::new();
    let width = results.rows.iter().map(|row| row.model.len()).max().unwrap_or(5).max(5);
    let mut ways: Vec<&str> = results.rows.iter().map(|row| &*row.way).collect();
    ways.dedup();
    ways.sort_unstable();
    ways.dedup();
    for way in ways {
        let rows: Vec<_> = results.rows.iter().filter(|row| row.way == way).collect();
        let _ = writeln!(text, "spinward {way}, in memory (--store tree) and with --disk");
        let _ = writeln!(
            text,
            "{:width$} {:>9} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>6} {:>9}",
            "model", "states", "MB", "MB then", "peak", "s", "s disk", "ratio", "MB", "B/state"
        );
        for row in &rows {
            let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
            let _ = writeln!(
                text,
                "{:width$} {:>9} {:>8.1} {:>8.1} {:>8.1} {:>8.2} {:>7.2} {:>7.2} {:>6.1} {:>9.1}{}",
                row.model,
                row.states,
                megabytes(row.memory[0]),
                megabytes(row.memory[1]),
                megabytes(row.peak),
                row.seconds[0],
                row.seconds[1],
                row.seconds[1] / row.seconds[0],
                megabytes(row.disk),
                row.bytes_per_state(),
                row.difference.as_ref().map_or(String::new(), |what| format!("  {what}")),
            );
        }
        let ratios: Vec<f64> = rows.iter().map(|row| row.seconds[1] / row.seconds[0]).collect();
        let spilled = || rows.iter().filter(|row| row.disk > 0);
        let bytes: Vec<f64> = spilled().map(|row| row.bytes_per_state()).collect();
        let _ = writeln!(
            text,
            "{} models, {} of them on disk: {:.2} times the time in geometric mean; {:.1} bytes a state on disk in the \
             median of those\n",
            rows.len(),
            bytes.len(),
            geometric_mean(&ratios).unwrap_or(1.0),
            median(&bytes).unwrap_or(0.0)
        );
    }
    add_skipped(&mut text, &results.skipped);
    if results.left_out > 0 {
        let (least, most) = (STATES.start(), STATES.end());
        let _ = writeln!(
            text,
            "Left out: {} models (fewer than {least} states, or more than {most})",
            results.left_out
        );
    }
    match results.differences() {
        0 => {}
        number => {
            let _ = writeln!(text, "{number} searches on disk found something else: a defect.");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seconds: [f64; 2], disk: u64) -> DiskRow {
        let (model, way) = ("m.pml".into(), "--search bfs".into());
        let memory = [100 << 20, 10 << 20];
        DiskRow { model, way, states: 1000, memory, peak: 9 << 20, seconds, disk, difference: None }
    }

    #[test]
    fn what_differs_is_told() {
        let states = |states| Checked {
            measured: Measured { states, ..Measured::default() },
            verdict: "violated".into(),
            shortest: Some(7),
            ..Checked::default()
        };
        assert_eq!(difference(&states(5), &states(5)), None);
        assert_eq!(difference(&states(5), &states(6)).as_deref(), Some("5 states, on disk 6"));
        let longer = Checked { shortest: Some(8), ..states(5) };
        assert!(difference(&states(5), &longer).is_some());
        let unsure = Checked { shortest: None, ..states(5) };
        assert_eq!(difference(&states(5), &unsure), None);
    }

    #[test]
    fn means_are_of_ratios_and_of_what_is_on_disk() {
        let rows = vec![row([1.0, 4.0], 8_000), row([2.0, 2.0], 0), row([1.0, 0.25], 12_000)];
        let text = table(&DiskResults { rows, ..DiskResults::default() });
        let summary = "3 models, 2 of them on disk: 1.00 times the time in geometric mean; 10.0 bytes a state";
        assert!(text.contains(summary), "{text}");
    }
}
