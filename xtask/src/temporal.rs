//! `cargo xtask temporal`: random models with formulas, never claims and labels, on which all checks for infinite
//! runs must agree, and SPIN with them.
//!
//! Four things are held against each other. Ways to check: all of them must give one verdict, and a run that is
//! fair in a stronger sense is one in a weaker sense too. Texts: a formula and the never claim that SPIN makes of it
//! must have one verdict. SPIN: the verdict of `pan -a` or `pan -l` must be ours; where only `pan -f` differs that is
//! counted by its kind, because SPIN is known to miss errors there. Figures: in a complete
//! search of a never claim there are as many states as SPIN stores; how often that is so at an error, and how often our
//! run is longer than SPIN's, is told.

mod figures;
mod judge;
mod pan;

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use self::figures::Figures;
use self::judge::{Difference, Judge, Question};
use crate::fuzz::minimise;
use crate::generate::temporal::temporal;
use crate::random::{Sample, clock};
use crate::spin::Refusal;
use crate::spinward::Spinward;
use crate::{Tally, spin, workers};

/// The name of a model's file in its temporary folder.
const FILE: &str = "model.pml";

/// The time in which SPIN must make a claim of a formula.
const TRANSLATION: Duration = Duration::from_secs(3);

/// The time spent on making a failing model smaller.
const SHRINKING: Duration = Duration::from_secs(60);

/// Compare checks for infinite runs with each other and with SPIN's, on random models
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    sample: Sample,
    /// Only what is asked with this word among its options, such as `--acceptance` or `weak`
    #[arg(long)]
    only: Option<String>,
}

impl Options {
    /// The options of the test command.
    pub fn for_seconds(seconds: u64, jobs: usize) -> Self {
        Self { sample: Sample::for_seconds(seconds, jobs), only: None }
    }
}

/// Runs the command.
pub fn run(Options { sample, only }: &Options) -> Result<ExitCode> {
    let first = sample.seed.unwrap_or_else(clock);
    println!("seed {first}");
    let keep = sample.keep.clone();
    let bench = Bench {
        spinward: Spinward::find(sample.spinward.clone())?,
        keep: keep.unwrap_or_else(|| crate::project_root().join("target/temporal-failures")),
        only: only.clone(),
    };
    let started = Instant::now();
    let time = sample.seconds.map(Duration::from_secs);
    let seeds = (0..sample.count.unwrap_or(u64::MAX))
        .map(|at| first.wrapping_add(at))
        .take_while(|_| time.is_none_or(|time| started.elapsed() < time));
    let mut tally = Tally::default();
    let mut figures = Figures::default();
    workers::run(
        sample.jobs,
        seeds,
        |seed| (seed, bench.attempt(seed)),
        |(seed, tried)| match tried {
            Ok(Verdict::Compared(comparison)) => {
                match comparison.differences.is_empty() {
                    true => tally.passed += 1,
                    false => tally.failed += 1,
                }
                if let [difference, others @ ..] = &comparison.differences[..] {
                    println!("FAILED seed {seed}: {difference}; and {} more", others.len());
                }
                for note in &comparison.notes {
                    println!("noted seed {seed}: {note}");
                }
                figures.add(comparison.figures);
            }
            Ok(Verdict::Skipped(why)) => {
                println!("skipped seed {seed}: {why}");
                tally.skipped += 1;
            }
            Err(error) => {
                println!("FAILED seed {seed}: {error:#}");
                tally.failed += 1;
            }
        },
    );
    print!("{figures}");
    if tally.failed > 0 {
        println!("see {}", bench.keep.display());
    }
    Ok(tally.conclude())
}

/// What came out for a model.
#[derive(Debug)]
enum Verdict {
    Compared(Comparison),
    Skipped(String),
}

/// What was said of a model.
#[derive(Debug, Default)]
struct Comparison {
    differences: Vec<Difference>,
    /// What differs where it may.
    notes: Vec<String>,
    figures: Figures,
}

/// What models are tried with.
struct Bench {
    spinward: Spinward,
    keep: PathBuf,
    /// A word that questions must have.
    only: Option<String>,
}

impl Bench {
    /// Tries the model of a seed; one on which there is no agreement is made smaller and kept.
    fn attempt(&self, seed: u64) -> Result<Verdict> {
        let model = temporal(seed);
        let mut text = model.text;
        for (n, formula) in model.formulas.iter().enumerate() {
            text += &format!("ltl f{n} {{ {formula} }}\n");
            match spin::never(&format!("n{n}"), formula, TRANSLATION)? {
                Ok(claim) => text += &claim,
                Err(Refusal(why)) => return Ok(Verdict::Skipped(why)),
            }
        }
        let mut questions = Question::of(&text, &model.with_next);
        if let Some(only) = &self.only {
            questions.retain(|question| question.options().contains(&only.as_str()));
        }
        let verdict = self.compare(&text, &questions, seed)?;
        match &verdict {
            Verdict::Compared(Comparison { notes, .. }) if notes.is_empty() => {}
            Verdict::Compared(Comparison { notes, .. }) => {
                keep(&self.keep.join("noted").join(seed.to_string()), "original", &text, notes)?;
            }
            Verdict::Skipped(why) => {
                keep(&self.keep.join("skipped").join(seed.to_string()), "original", &text, &[why])?;
            }
        }
        if let Verdict::Compared(Comparison { differences, .. }) = &verdict
            && let Some(first) = differences.first()
        {
            let folder = self.keep.join(seed.to_string());
            keep(&folder, "original", &text, differences)?;
            let (small, differences) = self.shrink(&text, first, seed);
            keep(&folder, "small", &small, &differences)?;
        }
        Ok(verdict)
    }

    fn compare(&self, text: &str, questions: &[Question], seed: u64) -> Result<Verdict> {
        let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
        fs::write(dir.path().join(FILE), text).context("cannot write a model")?;
        Judge::new(&self.spinward, dir.path(), FILE, seed).compare(questions)
    }

    /// Takes parts away as long as there is no agreement on the same question; also gives what differs in the end.
    fn shrink(&self, text: &str, found: &Difference, seed: u64) -> (String, Vec<Difference>) {
        let started = Instant::now();
        let mut differences = vec![found.clone()];
        let text = minimise(text, &mut |text| {
            if started.elapsed() > SHRINKING {
                return false;
            }
            match self.compare(text, &found.questions, seed) {
                Ok(Verdict::Compared(other))
                    if other.differences.iter().any(|it| it.nature == found.nature) =>
                {
                    differences = other.differences;
                    true
                }
                _ => false,
            }
        });
        (text, differences)
    }
}

/// Writes a model and what differs.
fn keep(folder: &Path, name: &str, text: &str, differences: &[impl Display]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::write(folder.join(format!("{name}.pml")), text)?;
    let told: String = differences.iter().map(|it| format!("{it}\n")).collect();
    fs::write(folder.join(format!("{name}.differences")), told)?;
    Ok(())
}
