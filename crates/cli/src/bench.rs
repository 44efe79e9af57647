//! `spinward bench`: measures us beside SPIN.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spinward_bench::{
    AutoPlan, DiskPlan, Folder, Job, LtlPlan, MODES, Machine, Mode, Pick, Plan, Stateright,
    Variant, WAYS, Watch, missing_tools, mode, models,
};

use crate::args::{count, seconds, size};
use crate::terminal::{self, EXIT_VIOLATED, Failure, print, say};

/// The exit code of a run that was interrupted.
const EXIT_INCOMPLETE: u8 = 3;
/// How we search if nothing else is said: one thread, as SPIN does; with either exact store.
const OURS: [&str; 2] = ["--threads 1", "--threads 1 --store tree"];
/// How we check temporal properties, and what all searches are told beside the default one: one thread, as SPIN does.
const ONE_THREAD: [&str; 1] = ["--threads 1"];

const EXAMPLES: &str = "\
Examples:
  spinward bench models
  spinward bench --rounds 5 --modes safety,collapse --ours '--store tree' models/peterson.pml
  spinward bench --largest 20 --min-states 100000 --time 60 my_models
  spinward bench --finish-within 5 --out runs my_models
  spinward bench --stateright
  spinward bench --ltl --rounds 1 models
  spinward bench --disk --rounds 1 models
  spinward bench --auto --time 20 models

Modes of SPIN:
";

/// Measure spinward beside SPIN.
///
/// Gives each model to SPIN (spin -a, gcc -O2, pan) and to spinward, one job at a time and in turn, some
/// rounds, and compares the medians: the time from the source to the verdict, states per CPU
/// second, bytes a state. A ratio above 1 means that spinward is better. Both search for safety
/// errors, all of them; with SPIN's mode 'safety' both must count the same states and transitions,
/// and where they do not, that is told as a defect.
///
/// With --ltl each temporal property that a model states is measured by itself: every ltl block and every
/// never claim that accepts, for all runs (pan -a) and for the weakly fair ones (pan -a -f, --fair weak).
/// SPIN searches with its defaults, and compared are CPU seconds, verdicts, and the steps of the runs
/// that show violations. Verdicts that differ are told as a defect.
///
/// With --disk each model with 10,000 to 5,000,000 states is searched in memory (--store tree), and once more
/// with a tenth of that memory and its states on disk. Verdicts, states and shortest runs must be the same.
/// SPIN is not needed.
///
/// With --auto each model is checked until the first error by the default search, and by each single one that it might
/// have been left to: breadth first, A*, a sweep, depth first, greedy by each of ten guides. Compared are CPU seconds until
/// the verdict is certain, with those of the best, and the steps of the run with the shortest of all. SPIN is not needed.
///
/// The run is kept in a folder: table.txt, jobs.csv, machine.json, without --disk results.csv, and without
/// --ltl and --auto too plot.svg.
///
/// Exit codes: 0; 1 if counts or verdicts are unequal; 2 for mistakes and missing programs; 3 if interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    /// Models, or folders in which to look for them
    #[arg(value_name = "MODELS", required_unless_present = "stateright")]
    models: Vec<PathBuf>,

    /// Measure each temporal property that the models state
    #[arg(
        long, conflicts_with_all = ["modes", "stateright", "largest", "min_states", "finish_within"],
        help_heading = "What to compare"
    )]
    ltl: bool,

    /// Measure what it costs to keep states on disk
    #[arg(
        long,
        conflicts_with_all = ["ltl", "modes", "stateright", "largest", "min_states", "finish_within"],
        help_heading = "What to compare"
    )]
    disk: bool,

    /// Measure what it costs to leave the search open
    #[arg(
        long,
        conflicts_with_all = ["disk", "ltl", "modes", "stateright", "largest", "min_states", "finish_within"],
        help_heading = "What to compare"
    )]
    auto: bool,

    /// How SPIN searches, apart by commas; models are picked by the first
    #[arg(
        long, value_name = "MODES", value_delimiter = ',', value_parser = mode_of_name,
        default_value = "safety", help_heading = "What to compare"
    )]
    modes: Vec<&'static Mode>,

    /// Options of a check, apart by blanks; may repeat [default: '--threads 1' and, without --ltl
    /// and --auto, '--threads 1 --store tree'; with --disk breadth-first search and A* with three guides]
    #[arg(
        long,
        value_name = "OPTIONS",
        allow_hyphen_values = true,
        help_heading = "What to compare"
    )]
    ours: Vec<String>,

    /// Add the models that are written for Stateright too; cargo builds them
    #[arg(
        long, value_name = "DIR", num_args = 0..=1, require_equals = true,
        default_missing_value = "bench/stateright", help_heading = "What to compare"
    )]
    stateright: Option<PathBuf>,

    /// Measure only the N models with the most states
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        help_heading = "Which models"
    )]
    largest: Option<usize>,

    /// Measure only models with so many states
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        default_value = "0", help_heading = "Which models"
    )]
    min_states: u64,

    /// Measure only models of which SPIN gives a verdict within this time
    #[arg(
        long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true,
        help_heading = "Which models"
    )]
    finish_within: Option<Duration>,

    /// How often to measure
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        default_value = "3", help_heading = "How to measure"
    )]
    rounds: usize,

    /// Time for each program that is run
    #[arg(
        long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true,
        default_value = "60", help_heading = "How to measure"
    )]
    time: Duration,

    /// Memory for each search
    #[arg(
        long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true,
        default_value = "4G", help_heading = "How to measure"
    )]
    memory: u64,

    /// The folder to keep runs in
    #[arg(long, value_name = "DIR", default_value = "bench", help_heading = "Output")]
    out: PathBuf,

    /// Say less: no progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

fn after_help() -> String {
    let modes: Vec<String> =
        MODES.iter().map(|mode| format!("  {:9} {}", mode.name, mode.about)).collect();
    EXAMPLES.to_owned() + &modes.join("\n")
}

fn mode_of_name(name: &str) -> Result<&'static Mode, String> {
    mode(name).ok_or_else(|| {
        let names: Vec<&str> = MODES.iter().map(|mode| mode.name).collect();
        format!("SPIN's modes are {}", names.join(", "))
    })
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let measure = plan(args)?;
    let command = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let machine = Machine::here(env!("CARGO_PKG_VERSION"), command.collect());
    let problem = |problem| Failure::usage(format!("{}: {problem}", args.out.display()));
    let folder = Folder::create(&args.out, &machine).map_err(problem)?;
    let mut watcher = Watcher { folder, bar: progress_bar(args), problem: None };
    let Outcome { table, differences, interrupted } = measure.run(&mut watcher).map_err(problem)?;
    if let Some(lost) = watcher.problem {
        return Err(problem(lost));
    }
    print(&format!("{table}The run is kept in {}\n", watcher.folder.path().display()))?;
    Ok(match () {
        () if differences > 0 => EXIT_VIOLATED,
        () if interrupted => EXIT_INCOMPLETE,
        () => 0,
    })
}

/// What to measure.
enum Measure {
    Safety(Plan),
    Ltl(LtlPlan),
    Disk(DiskPlan),
    Auto(AutoPlan),
}

/// What came out, as far as the command tells it.
struct Outcome {
    table: String,
    differences: usize,
    interrupted: bool,
}

impl Measure {
    /// Runs the jobs and keeps what comes out.
    fn run(&self, watcher: &mut Watcher) -> std::io::Result<Outcome> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        terminal::on_interrupt(move || flag.store(true, Ordering::SeqCst));
        match self {
            Self::Safety(plan) => {
                let results = spinward_bench::run(plan, &stop, watcher);
                watcher.clear();
                let table = watcher.folder.finish(&results)?;
                let (differences, interrupted) = (results.differences(), results.interrupted);
                Ok(Outcome { table, differences, interrupted })
            }
            Self::Ltl(plan) => {
                let results = spinward_bench::run_ltl(plan, &stop, watcher);
                watcher.clear();
                let table = watcher.folder.finish_ltl(&results)?;
                let (differences, interrupted) = (results.differences(), results.interrupted);
                Ok(Outcome { table, differences, interrupted })
            }
            Self::Disk(plan) => {
                let results = spinward_bench::run_disk(plan, &stop, watcher);
                watcher.clear();
                let table = watcher.folder.finish_disk(&results)?;
                let (differences, interrupted) = (results.differences(), results.interrupted);
                Ok(Outcome { table, differences, interrupted })
            }
            Self::Auto(plan) => {
                let results = spinward_bench::run_auto(plan, &stop, watcher);
                watcher.clear();
                let table = watcher.folder.finish_auto(&results)?;
                let (differences, interrupted) = (results.differences(), results.interrupted);
                Ok(Outcome { table, differences, interrupted })
            }
        }
    }
}

fn plan(args: &Args) -> Result<Measure, Failure> {
    let missing = missing_tools(&["spin", "gcc"]);
    if !missing.is_empty() && !args.disk && !args.auto {
        return Err(Failure::usage(format!(
            "nothing to compare with: {} not installed (on Debian and Ubuntu: apt-get install spin gcc)",
            match missing.as_slice() {
                [one] => format!("{one} is"),
                several => format!("{} are", several.join(" and ")),
            }
        )));
    }
    if args.rounds == 0 {
        return Err(Failure::usage("there must be a round to measure: --rounds 1 or more"));
    }
    let mut found = Vec::new();
    for path in &args.models {
        let problem = |problem: std::io::Error| match problem.kind() {
            std::io::ErrorKind::NotFound => {
                format!("there is no model or folder {}", path.display())
            }
            _ => problem.to_string(),
        };
        found.extend(models::find(path).map_err(|it| Failure::usage(problem(it)))?);
    }
    let stateright = match &args.stateright {
        Some(folder) => Some(Stateright::build(folder).map_err(|problem| {
            Failure::usage(format!("cannot use the models for Stateright: {problem}"))
        })?),
        None => None,
    };
    if found.is_empty() && stateright.is_none() {
        return Err(Failure::usage("no models there (.pml, .prom, .prm, .pr or .promela)"));
    }
    let program = std::env::current_exe()
        .map_err(|problem| Failure::internal(format!("cannot find myself: {problem}")))?;
    let ours: Vec<Variant> = match args.ours.as_slice() {
        [] if args.disk => WAYS.map(Variant::new).to_vec(),
        [] if args.ltl || args.auto => ONE_THREAD.map(Variant::new).to_vec(),
        [] => OURS.map(Variant::new).to_vec(),
        given => given.iter().map(|options| Variant::new(options)).collect(),
    };
    let (rounds, time, memory) = (args.rounds, args.time, args.memory);
    if args.disk {
        let (models, ways) = (found, ours);
        return Ok(Measure::Disk(DiskPlan { models, ways, program, rounds, time, memory }));
    }
    if args.auto {
        let (models, options) = (found, ours);
        return Ok(Measure::Auto(AutoPlan { models, options, program, rounds, time, memory }));
    }
    if args.ltl {
        return Ok(Measure::Ltl(LtlPlan { models: found, ours, program, rounds, time, memory }));
    }
    Ok(Measure::Safety(Plan {
        models: found,
        modes: args.modes.clone(),
        ours,
        program,
        rounds,
        time,
        memory,
        pick: Pick {
            largest: args.largest,
            min_states: args.min_states,
            finish_within: args.finish_within,
        },
        stateright,
    }))
}

/// Keeps jobs and shows how far the run is.
struct Watcher {
    folder: Folder,
    bar: Option<ProgressBar>,
    /// Why a job could not be kept.
    problem: Option<std::io::Error>,
}

impl Watcher {
    /// Leaves the terminal to the results.
    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Watcher {
    fn begins(&mut self, part: &str, number: usize, of: usize, model: &str, program: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{part} {number} of {of}: {model}, {program}"));
        }
    }

    fn done(&mut self, job: &Job) {
        if let Err(problem) = self.folder.add(job) {
            self.problem.get_or_insert(problem);
        }
        if let (Some(bar), Err(reason)) = (&self.bar, &job.outcome) {
            bar.suspend(|| say(&format!("{}  {}: {reason}", job.model, job.program)));
        }
    }
}

/// On a terminal only, and not if the user wants quiet.
fn progress_bar(args: &Args) -> Option<ProgressBar> {
    if args.quiet || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    Some(bar)
}
