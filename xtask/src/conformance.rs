//! `cargo xtask conformance`: our figures for real models against those of SPIN, run live.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use spinward_bench::models;

use crate::spin::{self, Compiler, Generated, PanRun, same_count};
use crate::spinward::{Checked, Spinward};
use crate::{Tally, process, trails, workers};

/// How much more time than SPIN our checker gets before its silence counts as a failure.
const PATIENCE: u32 = 6;

/// Options of the raw search by `pan`.
const PAN: [&str; 4] = ["-c0", "-m2000000", "-w22", "-n"];

/// Compare states, transitions and errors of models with those SPIN finds
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Folders (or files) with models
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Models to work on at a time
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Seconds for each of SPIN's searches
    #[arg(long, default_value_t = 10)]
    time: u64,
    /// Only models whose path contains this
    #[arg(long)]
    filter: Option<String>,
    /// The checker [default: the release build]
    #[arg(long)]
    spinward: Option<PathBuf>,
    /// Run SPIN only, and print its figures
    #[arg(long)]
    spin_only: bool,
    /// Also hold trails against each other: replay ours with SPIN and SPIN's with ours
    #[arg(long)]
    trails: bool,
    /// Threads of our breadth-first search
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// How our searches keep states
    #[arg(long, default_value = "exact")]
    store: String,
    /// A file of known differences, in lines `path-suffix: reason`
    #[arg(long)]
    explained: Option<PathBuf>,
}

impl Options {
    /// The options of the test command: all models below `dir`, with trails.
    pub fn full(dir: PathBuf, jobs: usize, explained: Option<PathBuf>) -> Self {
        Self {
            dirs: vec![dir],
            jobs,
            time: 10,
            filter: None,
            spinward: None,
            spin_only: false,
            trails: true,
            threads: 2,
            store: "exact".to_owned(),
            explained,
        }
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut models = Vec::new();
    for dir in &options.dirs {
        models.extend(models::find(dir)?);
    }
    if let Some(filter) = &options.filter {
        models.retain(|model| model.to_string_lossy().contains(filter));
    }
    if models.is_empty() {
        bail!("no models found");
    }
    let explained = match &options.explained {
        Some(file) => read_explained(file)?,
        None => Vec::new(),
    };
    let spinward = match options.spin_only {
        true => None,
        false => Some(Spinward::find(options.spinward.clone())?),
    };
    let bench = Bench {
        spinward,
        limit: Duration::from_secs(options.time),
        trails: options.trails,
        threads: options.threads.to_string(),
        store: options.store.clone(),
    };
    let mut tally = Tally::default();
    workers::run(
        options.jobs,
        models.iter(),
        |model| (model, bench.compare(model)),
        |(model, result)| {
            let mut row = result.unwrap_or_else(|error| Row {
                verdict: Verdict::Differs(format!("{error:#}")),
                ..Row::default()
            });
            if let Verdict::Differs(how) = &row.verdict
                && let Some((_, reason)) = explained.iter().find(|(suffix, _)| {
                    model.ends_with(suffix) || model.to_string_lossy().ends_with(suffix)
                })
            {
                row.verdict = Verdict::Explained(format!("{reason}; {how}"));
            }
            match row.verdict {
                Verdict::Equal | Verdict::Ran => tally.passed += 1,
                Verdict::Differs(_) => tally.failed += 1,
                Verdict::Skipped(_) | Verdict::Explained(_) => tally.skipped += 1,
            }
            println!("{}", row.line(model));
        },
    );
    Ok(tally.conclude())
}

/// Reads lines `path-suffix: reason`; empty lines and lines starting with `#` say nothing.
fn read_explained(file: &Path) -> Result<Vec<(String, String)>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| match line.split_once(": ") {
            Some((suffix, reason)) => Ok((suffix.trim().to_owned(), reason.trim().to_owned())),
            None => bail!("{}: not `path-suffix: reason`: {line}", file.display()),
        })
        .collect()
}

/// What came out for a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Verdict {
    #[default]
    Equal,
    /// SPIN ran alone.
    Ran,
    Differs(String),
    Explained(String),
    Skipped(String),
}

/// Numbers of states, transitions and errors.
type Figures = (u64, u64, u64);

/// A line of the table.
#[derive(Debug, Default)]
struct Row {
    verdict: Verdict,
    spin: Option<Figures>,
    dfs: Option<Figures>,
    bfs: Option<Figures>,
    notes: Vec<String>,
}

impl Row {
    fn skipped(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped(why.into()), ..Self::default() }
    }

    /// The line to print: figures are those of SPIN / our dfs / our bfs.
    fn line(&self, model: &Path) -> String {
        let (word, why) = match &self.verdict {
            Verdict::Equal => ("equal", None),
            Verdict::Ran => ("ran", None),
            Verdict::Differs(how) => ("DIFFERS", Some(how)),
            Verdict::Explained(why) => ("explained", Some(why)),
            Verdict::Skipped(why) => ("skipped", Some(why)),
        };
        let mut line = format!("{word:9} {}", model.display());
        let searches = [self.spin, self.dfs, self.bfs];
        if searches.iter().any(Option::is_some) {
            let column = |pick: fn(Figures) -> u64| {
                let text = |figures: Option<Figures>| {
                    figures.map_or("-".to_owned(), |f| pick(f).to_string())
                };
                searches.map(text).join(" / ")
            };
            let _ = write!(
                line,
                "  states {}  transitions {}  errors {}",
                column(|f| f.0),
                column(|f| f.1),
                column(|f| f.2)
            );
        }
        if let Some(why) = why {
            let _ = write!(line, "  ({why})");
        }
        for note in &self.notes {
            let _ = write!(line, "  [{note}]");
        }
        line
    }
}

/// What models are compared with, and how long that may take.
struct Bench {
    spinward: Option<Spinward>,
    limit: Duration,
    trails: bool,
    threads: String,
    store: String,
}

impl Bench {
    /// Runs SPIN and our checker on a copy of the model.
    fn compare(&self, model: &Path) -> Result<Row> {
        let (dir, name) = models::copy_surroundings(model)?;
        if has_embedded_c(dir.path(), &name)? {
            return Ok(Row::skipped("embedded C"));
        }
        let generated = match spin::generate(dir.path(), &name)? {
            Ok(generated) => generated,
            Err(refusal) => return Ok(Row::skipped(refusal.0)),
        };
        let verifier =
            match generated.compile(Compiler::GccFast, &generated.raw_defines(&[]), "pan")? {
                Ok(verifier) => verifier,
                Err(refusal) => return Ok(Row::skipped(refusal.0)),
            };
        let run = verifier.run(&PAN, self.limit)?;
        let mut row = Row {
            spin: run.report.as_ref().map(|r| (r.states, r.transitions, r.errors)),
            ..Row::default()
        };
        if let Some(report) = &run.report
            && let Some(error) = report.messages.first()
        {
            row.notes.push(format!("{} (at depth {})", error.text, error.depth));
        }
        if let Some(trouble) = run.trouble() {
            row.verdict = Verdict::Skipped(trouble);
            return Ok(row);
        }
        if let Some(spinward) = &self.spinward {
            self.hold_against(spinward, dir.path(), &name, &generated, &run, &mut row)?;
        } else {
            row.verdict = Verdict::Ran;
        }
        Ok(row)
    }

    /// Runs our checker and enters into `row` what it finds.
    fn hold_against(
        &self,
        spinward: &Spinward,
        dir: &Path,
        model: &str,
        generated: &Generated,
        spin: &PanRun,
        row: &mut Row,
    ) -> Result<()> {
        let limit = self.limit * PATIENCE;
        let search = |order, threads| {
            let mut options = vec!["--safety", "--errors", "0", "--search", order];
            options.extend(["--store", &self.store, "--threads", threads]);
            spinward.check(dir, model, &options, limit)
        };
        let (dfs, _) = search("dfs", "1")?;
        let (bfs, _) = search("bfs", &self.threads)?;
        let (auto, _) = search("auto", &self.threads)?;
        row.dfs = figures(&dfs);
        row.bfs = figures(&bfs);
        let mut differences = differences(spin, &[("dfs", &dfs), ("bfs", &bfs), ("auto", &auto)]);
        if self.trails && differences.is_empty() && row.spin.is_some_and(|f| f.2 > 0) {
            let trails = trails::Trails {
                spinward,
                dir,
                model,
                generated,
                compiler: Compiler::GccFast,
                limit,
            };
            let outcome = trails.check()?;
            row.notes.extend(outcome.notes);
            differences.extend(outcome.differences);
        }
        if !differences.is_empty() {
            row.verdict = Verdict::Differs(differences.join("; "));
        }
        Ok(())
    }
}

/// The figures of one of our answers.
fn figures(checked: &Checked) -> Option<Figures> {
    let answer = checked.as_ref().ok()?;
    let statistics = &answer.statistics;
    Some((statistics.states, statistics.transitions, answer.error_count()))
}

/// How our raw searches differ from SPIN's, and from each other.
pub fn differences(spin: &PanRun, searches: &[(&str, &Checked)]) -> Vec<String> {
    let mut differences = Vec::new();
    let Some(report) = &spin.report else {
        return vec!["SPIN gave no figures".to_owned()];
    };
    for (order, checked) in searches {
        let answer = match checked {
            Ok(answer) => answer,
            Err(why) => {
                differences.push(format!("{order}: {why}"));
                continue;
            }
        };
        let pairs = [
            ("states", report.states, answer.statistics.states),
            ("transitions", report.transitions, answer.statistics.transitions),
            ("errors", report.errors, answer.error_count()),
        ];
        for (what, spin, ours) in pairs {
            if !same_count(spin, ours) {
                differences.push(format!("{order} {what}"));
            }
        }
        let expected = if report.errors > 0 { "violated" } else { "verified" };
        if answer.verdict != expected {
            differences.push(format!("{order}: {} instead of {expected}", answer.verdict));
        }
    }
    let counted =
        |&(order, checked): &(&'_ str, &Checked)| Some((order.to_owned(), figures(checked)?));
    let mut counted = searches.iter().filter_map(counted);
    if let Some((first, expected)) = counted.next() {
        for (order, _) in counted.filter(|&(_, figures)| figures != expected) {
            differences.push(format!("{order} is not {first}"));
        }
    }
    differences
}

/// Whether the model, with all it includes, has statements in C.
fn has_embedded_c(dir: &Path, model: &str) -> Result<bool> {
    const WORDS: [&str; 5] = ["c_code", "c_expr", "c_decl", "c_state", "c_track"];
    let mut preprocessor = Command::new("gcc");
    preprocessor.args(["-std=gnu99", "-E", "-P", "-w", "-x", "c", model]).current_dir(dir);
    let output =
        process::run(&mut preprocessor, Duration::from_secs(30)).context("cannot run gcc")?;
    let word = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    Ok(output.stdout.split(word).any(|token| WORDS.contains(&token)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Ended;
    use crate::spin::PanReport;
    use crate::spinward::{Answer, Statistics};

    fn spin(states: u64, transitions: u64, errors: u64) -> PanRun {
        PanRun {
            report: Some(PanReport { states, transitions, errors, ..PanReport::default() }),
            ended: Ended::Code(0),
            text: String::new(),
        }
    }

    fn ours(states: u64, transitions: u64, errors: u64) -> Checked {
        Ok(Answer {
            verdict: if errors > 0 { "violated" } else { "verified" }.to_owned(),
            complete: true,
            reasons: Vec::new(),
            errors: Vec::new(),
            statistics: Statistics { states, transitions, error_count: Some(errors) },
        })
    }

    #[test]
    fn equal_figures_have_no_differences() {
        assert!(
            differences(&spin(5, 7, 1), &[("dfs", &ours(5, 7, 1)), ("bfs", &ours(5, 7, 1))])
                .is_empty()
        );
    }

    #[test]
    fn differences_are_named() {
        let found =
            differences(&spin(5, 7, 0), &[("dfs", &ours(5, 8, 0)), ("bfs", &ours(5, 7, 1))]);
        assert_eq!(
            found,
            [
                "dfs transitions",
                "bfs errors",
                "bfs: violated instead of verified",
                "bfs is not dfs"
            ]
        );
    }

    #[test]
    fn known_differences_are_read() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("explained");
        fs::write(&file, "# known\n\nbeem/at.1.prom: SPIN loses a state\n").expect("a file");
        let known = read_explained(&file).expect("well formed");
        assert_eq!(known, [("beem/at.1.prom".to_owned(), "SPIN loses a state".to_owned())]);
        fs::write(&file, "nothing said\n").expect("a file");
        assert!(read_explained(&file).is_err());
    }
}
