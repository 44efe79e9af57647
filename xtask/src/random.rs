//! `cargo xtask random` and `generate`: random models, on which SPIN and our checker must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::Args;

use crate::conformance::differences;
use crate::generate::{self, Class, Model, shrink};
use crate::spin::{self, Compiler, Generated, Refusal};
use crate::spinward::{MISFIT, Spinward};
use crate::{Tally, trails, workers};

/// The name of a model's file in its temporary folder.
const FILE: &str = "model.pml";

/// The time each search of a random model gets, SPIN's and ours.
const LIMIT: Duration = Duration::from_secs(4);

/// The time spent on making a failing model smaller.
const SHRINKING: Duration = Duration::from_secs(45);

/// Print the random model of a seed
#[derive(Clone, Debug, Args)]
pub struct GenerateOptions {
    /// The seed
    #[arg(long)]
    seed: u64,
}

/// Prints a model.
pub fn generate(options: &GenerateOptions) -> ExitCode {
    print!("{}", generate::model(options.seed));
    ExitCode::SUCCESS
}

/// Which random models to try, and by what
#[derive(Clone, Debug, Args)]
pub struct Sample {
    /// How many models
    #[arg(long, required_unless_present = "seconds")]
    pub count: Option<u64>,
    /// How long to go on, in seconds
    #[arg(long)]
    pub seconds: Option<u64>,
    /// The seed of the first model; the others follow it [default: from the clock]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Models to work on at a time
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
    /// Where failing models go [default: a folder in target]
    #[arg(long)]
    pub keep: Option<PathBuf>,
    /// The checker [default: the release build]
    #[arg(long)]
    pub spinward: Option<PathBuf>,
}

impl Sample {
    /// That of the test command.
    pub fn for_seconds(seconds: u64, jobs: usize) -> Self {
        Self { count: None, seconds: Some(seconds), seed: None, jobs, keep: None, spinward: None }
    }
}

/// Compare our figures with SPIN's on random models
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    sample: Sample,
    /// Only see whether SPIN accepts and finishes the models
    #[arg(long)]
    spin_only: bool,
    /// Also hold trails against each other
    #[arg(long)]
    trails: bool,
    /// Print how often language features occur, and how large state spaces are
    #[arg(long)]
    stats: bool,
    /// Compile with gcc even where tcc is installed
    #[arg(long)]
    gcc: bool,
}

impl Options {
    /// The options of the test command.
    pub fn for_seconds(seconds: u64, jobs: usize) -> Self {
        Self {
            sample: Sample::for_seconds(seconds, jobs),
            spin_only: false,
            trails: false,
            stats: false,
            gcc: false,
        }
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<ExitCode> {
    let seed = options.sample.seed.unwrap_or_else(clock);
    println!("seed {seed}");
    let bench = Bench {
        spinward: match options.spin_only {
            true => None,
            false => Some(Spinward::find(options.sample.spinward.clone())?),
        },
        compiler: match options.gcc {
            true => Compiler::GccQuick,
            false => Compiler::quickest(),
        },
        trails: options.trails,
        keep: options
            .sample
            .keep
            .clone()
            .unwrap_or_else(|| crate::project_root().join("target/random-failures")),
    };
    let started = Instant::now();
    let over = AtomicBool::new(false);
    let last = options.sample.count.unwrap_or(u64::MAX);
    let seeds =
        (0..last).map(|at| seed.wrapping_add(at)).take_while(|_| !over.load(Ordering::Relaxed));
    let time = options.sample.seconds.map(Duration::from_secs);
    let mut tally = Tally::default();
    let mut statistics = Statistics::default();
    workers::run(
        options.sample.jobs,
        seeds,
        |seed| {
            let model = generate::model(seed);
            let tried = bench.attempt(seed, &model);
            if time.is_some_and(|time| started.elapsed() >= time) {
                over.store(true, Ordering::Relaxed);
            }
            (seed, model, tried)
        },
        |(seed, model, tried)| {
            let tried = tried.unwrap_or_else(|error| Tried::failed(format!("{error:#}")));
            statistics.add(&model, &tried);
            match tried.verdict {
                Verdict::Passed => tally.passed += 1,
                Verdict::Skipped(why) => {
                    println!("skipped seed {seed}: {why}");
                    tally.skipped += 1;
                }
                Verdict::Failed(why) => {
                    println!("FAILED seed {seed}: {why}");
                    tally.failed += 1;
                }
            }
        },
    );
    if options.stats {
        statistics.print();
    }
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    let tried = tally.passed + tally.failed + tally.skipped;
    println!("{:.0} models per minute", tried as f64 / minutes);
    Ok(tally.conclude())
}

/// A seed nobody chose.
pub fn clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_micros() as u64)
}

/// What came out for a model.
#[derive(Debug)]
struct Tried {
    verdict: Verdict,
    /// States as SPIN counts them.
    states: Option<u64>,
    /// The errors SPIN found, in its words.
    errors: Vec<String>,
}

#[derive(Debug)]
enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Tried {
    fn failed(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Failed(why.into()), states: None, errors: Vec::new() }
    }
}

/// What both checkers said of a model.
struct Comparison {
    states: u64,
    errors: Vec<String>,
    differences: Vec<String>,
    /// Our checker does not say whether the claim holds.
    undecided: bool,
    /// What SPIN and our checker printed.
    outputs: [(&'static str, String); 4],
}

/// Why a model could not be compared.
enum Useless {
    /// SPIN does not take it, which is the generator's fault.
    Refused(String),
    /// It is too large.
    Large(String),
}

/// What models are tried with.
struct Bench {
    spinward: Option<Spinward>,
    compiler: Compiler,
    trails: bool,
    keep: PathBuf,
}

impl Bench {
    /// Tries a model; one on which the checkers disagree is made smaller and kept.
    fn attempt(&self, seed: u64, model: &Model) -> Result<Tried> {
        let comparison = match self.compare(model)? {
            Ok(comparison) => comparison,
            Err(Useless::Refused(why)) => {
                let verdict = match self.spinward {
                    Some(_) => Verdict::Skipped(why),
                    None => Verdict::Failed(why),
                };
                return Ok(Tried { verdict, ..Tried::failed("") });
            }
            Err(Useless::Large(why)) => {
                return Ok(Tried { verdict: Verdict::Skipped(why), ..Tried::failed("") });
            }
        };
        let (states, errors) = (Some(comparison.states), comparison.errors.clone());
        let verdict = match comparison.differences.is_empty() {
            true if comparison.undecided => Verdict::Skipped("claim not decided".to_owned()),
            true => Verdict::Passed,
            false => {
                let folder = self.keep.join(seed.to_string());
                keep(&folder, "original", model, &comparison)?;
                let (small, comparison) = self.shrink(model.clone(), comparison)?;
                keep(&folder, "small", &small, &comparison)?;
                let how = comparison.differences.join("; ");
                Verdict::Failed(format!("{how}; see {}", folder.display()))
            }
        };
        Ok(Tried { verdict, states, errors })
    }

    /// Takes parts away as long as the checkers still disagree.
    fn shrink(&self, mut model: Model, mut comparison: Comparison) -> Result<(Model, Comparison)> {
        let started = Instant::now();
        let mut at = 0;
        let mut since = 0;
        loop {
            let all = shrink::smaller(&model);
            if since >= all.len() || started.elapsed() > SHRINKING {
                return Ok((model, comparison));
            }
            let candidate = &all[at % all.len()];
            match self.compare(candidate)? {
                Ok(found) if same_nature(&comparison.differences, &found.differences) => {
                    model = candidate.clone();
                    comparison = found;
                    since = 0;
                }
                _ => {
                    at += 1;
                    since += 1;
                }
            }
        }
    }

    /// Runs SPIN and our checker on a model. What differs must do so with gcc too: other compilers
    /// have been seen to get SPIN's verifier wrong.
    fn compare(&self, model: &Model) -> Result<std::result::Result<Comparison, Useless>> {
        let compared = self.compare_with(self.compiler, model)?;
        match &compared {
            Ok(found) if self.compiler == Compiler::Tcc && !found.differences.is_empty() => {
                self.compare_with(Compiler::GccQuick, model)
            }
            _ => Ok(compared),
        }
    }

    fn compare_with(
        &self,
        compiler: Compiler,
        model: &Model,
    ) -> Result<std::result::Result<Comparison, Useless>> {
        let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
        let dir = dir.path();
        fs::write(dir.join(FILE), model.to_string()).context("cannot write a model")?;
        let generated = match spin::generate(dir, FILE)? {
            Ok(generated) => generated,
            Err(Refusal(why)) => return Ok(Err(Useless::Refused(why))),
        };
        // Otherwise SPIN leaves out of a state what it takes for padding: also priorities and variables
        // of type unsigned, where bits do not fall on bytes.
        let defines = generated.raw_defines(&["-DNOCOMP"]);
        let verifier = match generated.compile(compiler, &defines, "pan")? {
            Ok(verifier) => verifier,
            Err(Refusal(why)) => return Ok(Err(Useless::Refused(why))),
        };
        let run = verifier.run(&["-c0", "-m200000", "-w18", "-n"], LIMIT)?;
        if let Some(trouble) = run.trouble() {
            let large = run.report.as_ref().is_none_or(|report| report.truncated);
            return Ok(Err(match large && !trouble.contains("signal") {
                true => Useless::Large(trouble),
                false => Useless::Refused(trouble),
            }));
        }
        let report = run.report.clone().unwrap_or_default();
        let states = report.states;
        let errors = report.messages.into_iter().map(|message| message.text).collect();
        let violated = report.errors > 0;
        let mut comparison = Comparison {
            states,
            errors,
            differences: Vec::new(),
            undecided: false,
            outputs: [
                ("spin", String::new()),
                ("dfs", String::new()),
                ("bfs", String::new()),
                ("claim", String::new()),
            ],
        };
        if let Some(spinward) = &self.spinward {
            let search = |order, engine| {
                let options = ["--safety", "--errors", "0", "--search", order, "--engine", engine];
                spinward.check(dir, FILE, &options, LIMIT * 3)
            };
            let (dfs, dfs_text) = search("dfs", "compiled")?;
            let (bfs, bfs_text) = search("bfs", "interpreter")?;
            let (auto, _) = search("auto", "compiled")?;
            comparison.differences =
                differences(&run, &[("dfs", &dfs), ("bfs", &bfs), ("auto", &auto)]);
            comparison.differences.extend(self.ruled_out(spinward, dir, violated)?);
            comparison.outputs[1].1 = dfs_text;
            comparison.outputs[2].1 = bfs_text;
            if self.trails && violated && comparison.differences.is_empty() {
                let trails = trails::Trails {
                    spinward,
                    dir,
                    model: FILE,
                    generated: &generated,
                    compiler,
                    limit: LIMIT,
                };
                comparison.differences.extend(trails.check()?.differences);
            }
        }
        comparison.outputs[0].1 = run.text;
        if model.class == Class::Claim && generated.claim {
            self.compare_claims(compiler, dir, &generated, &mut comparison)?;
        }
        Ok(Ok(comparison))
    }

    /// Whether an image of the model shows that nothing can go wrong, though something can, or the other way round.
    fn ruled_out(&self, spinward: &Spinward, dir: &Path, violated: bool) -> Result<Option<String>> {
        let options =
            ["--safety", "--search", "astar", "--guide", "dpa(n=100)", "--shorten", "off"];
        let (by_image, _) = spinward.check(dir, FILE, &options, LIMIT * 3)?;
        Ok(match by_image {
            Ok(answer) if (answer.verdict == "violated") == violated => None,
            Ok(answer) if answer.verdict == "incomplete" => None,
            Ok(answer) => Some(format!("by an image: {}", answer.verdict)),
            Err(why) if why.contains(MISFIT) => None,
            Err(why) => Some(format!("by an image: {why}")),
        })
    }

    /// Compares whether the claim is violated; how often is not defined.
    fn compare_claims(
        &self,
        compiler: Compiler,
        dir: &Path,
        generated: &Generated,
        comparison: &mut Comparison,
    ) -> Result<()> {
        let defines = ["-DNOREDUCE", "-DNOFAIR"];
        let verifier = match generated.compile(compiler, &defines, "pan-claim")? {
            Ok(verifier) => verifier,
            Err(Refusal(why)) => {
                comparison.differences.push(why);
                return Ok(());
            }
        };
        let run = verifier.run(&["-a", "-c0", "-m200000", "-w18", "-n"], LIMIT)?;
        let Some(report) = run.report.as_ref().filter(|_| run.trouble().is_none()) else {
            return Ok(());
        };
        let Some(spinward) = &self.spinward else {
            return Ok(());
        };
        let (checked, text) = spinward.check(dir, FILE, &["--errors", "0"], LIMIT * 3)?;
        match checked {
            Err(why) => comparison.differences.push(format!("claim: {why}")),
            Ok(answer) => {
                // Beside a claim SPIN does not look for deadlocks; models with claims have no assertions.
                let ours = answer.errors.iter().any(|error| error.kind != "invalid-end-state");
                let spin = report.errors > 0;
                if !ours && !answer.complete {
                    comparison.undecided = true;
                } else if ours != spin {
                    let word = |violated| if violated { "violated" } else { "holds" };
                    comparison.differences.push(format!(
                        "claim: SPIN: {}, ours: {}",
                        word(spin),
                        word(ours)
                    ));
                }
            }
        }
        comparison.outputs[3].1 = run.text + "\n" + &text;
        Ok(())
    }
}

/// Whether two disagreements are of one kind: figures that differ, or no figures at all.
pub fn same_nature(before: &[String], after: &[String]) -> bool {
    let silent = |all: &[String]| all.iter().any(|how| how.contains("spinward"));
    let claim = |all: &[String]| all.iter().any(|how| how.starts_with("claim"));
    !after.is_empty() && silent(before) == silent(after) && claim(before) == claim(after)
}

/// Writes a model and what was said of it.
fn keep(folder: &Path, name: &str, model: &Model, comparison: &Comparison) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let write = |name: String, text: &str| fs::write(folder.join(name), text);
    write(format!("{name}.pml"), &model.to_string())?;
    write(format!("{name}.differences"), &(comparison.differences.join("\n") + "\n"))?;
    for (what, text) in &comparison.outputs {
        if !text.is_empty() {
            write(format!("{name}.{what}.txt"), text)?;
        }
    }
    Ok(())
}

/// How often things occur.
#[derive(Debug, Default)]
struct Statistics {
    models: u64,
    features: BTreeMap<&'static str, u64>,
    classes: BTreeMap<Class, u64>,
    states: Vec<u64>,
    violated: u64,
    errors: BTreeMap<String, u64>,
}

impl Statistics {
    fn add(&mut self, model: &Model, tried: &Tried) {
        self.models += 1;
        self.violated += u64::from(!tried.errors.is_empty());
        let kind = |text: &String| match text.starts_with("assertion violated") {
            true => "assertion violated".to_owned(),
            false => text.clone(),
        };
        let kinds: BTreeSet<String> = tried.errors.iter().map(kind).collect();
        for kind in kinds {
            *self.errors.entry(kind).or_default() += 1;
        }
        self.states.extend(tried.states);
        *self.classes.entry(model.class).or_default() += 1;
        for feature in &model.features {
            *self.features.entry(feature).or_default() += 1;
        }
    }

    fn print(&mut self) {
        let percent = |count: u64| 100.0 * count as f64 / self.models.max(1) as f64;
        println!("features, in percent of models:");
        for (feature, count) in &self.features {
            println!("  {:5.1}  {feature}", percent(*count));
        }
        println!("classes:");
        for (class, count) in &self.classes {
            println!("  {:5.1}  {class:?}", percent(*count));
        }
        println!("errors:");
        println!("  {:5.1}  any", percent(self.violated));
        for (error, count) in &self.errors {
            println!("  {:5.1}  {error}", percent(*count));
        }
        println!("states:");
        for (low, high) in
            [(0, 10), (10, 100), (100, 1000), (1000, 10_000), (10_000, 50_000), (50_000, u64::MAX)]
        {
            let within = |states: &&u64| (low..high).contains(*states);
            let count = self.states.iter().filter(within).count() as u64;
            println!("  {:5.1}  from {low}", percent(count));
        }
        self.states.sort_unstable();
        if let Some(median) = self.states.get(self.states.len() / 2) {
            println!("  median {median}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_model_must_fail_in_the_same_way() {
        let figures = ["dfs states".to_owned()];
        let others = ["bfs errors".to_owned()];
        let silence = ["dfs: spinward: exit code 2".to_owned()];
        assert!(same_nature(&figures, &others));
        assert!(!same_nature(&figures, &silence));
        assert!(!same_nature(&figures, &[]));
    }
}
