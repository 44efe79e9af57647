//! `cargo xtask reductions`: random models, in which searches that leave out states must find the
//! errors that the search finds which leaves out nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::fuzz::minimise;
use crate::generate::crowd::crowd;
use crate::generate::mutex::mutex;
use crate::generate::race::{Race, race};
use crate::random::{Sample, clock, same_nature};
use crate::spinward::{AS_IT_STANDS, Answer, Checked, FoundError, MISFIT, Spinward};
use crate::{Tally, workers};

/// The name of a model's file in its temporary folder.
const FILE: &str = "model.pml";

/// Models with more states than this are skipped.
const STATES: &str = "100000";

/// The time for a search, and that after which it is taken to hang.
const TIME: &str = "5";
const LIMIT: Duration = Duration::from_secs(30);

/// The time spent on making a failing model smaller.
const SHRINKING: Duration = Duration::from_secs(45);

/// Compare searches that leave out states with one that does not, on random models
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    sample: Sample,
    /// Only searches with this word among their options
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
        keep: keep.unwrap_or_else(|| crate::project_root().join("target/reduction-failures")),
        only: only.clone(),
    };
    let started = Instant::now();
    let time = sample.seconds.map(Duration::from_secs);
    let seeds = (0..sample.count.unwrap_or(u64::MAX))
        .map(|at| first.wrapping_add(at))
        .take_while(|_| time.is_none_or(|time| started.elapsed() < time));
    let mut tally = Tally::default();
    let mut wrong = 0_u64;
    let (mut all, mut visited) = (0, 0);
    workers::run(
        sample.jobs,
        seeds,
        |seed| (seed, bench.attempt(seed)),
        |(seed, tried)| match tried {
            Ok(Verdict::Compared(comparison)) if comparison.differences.is_empty() => {
                tally.passed += 1;
                wrong += u64::from(comparison.wrong);
                all += comparison.states;
                visited += comparison.visited;
            }
            Ok(Verdict::Compared(comparison)) => {
                println!("FAILED seed {seed}: {}", comparison.differences.join("; "));
                tally.failed += 1;
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
    let share = 100.0 * visited as f64 / all.max(1) as f64;
    println!("errors in {wrong} models; {share:.0} % of the states visited by default");
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

/// What the searches of a model said.
#[derive(Debug, Default)]
struct Comparison {
    differences: Vec<String>,
    /// There are errors.
    wrong: bool,
    /// States in all, and states visited by the first search that leaves out some.
    states: u64,
    visited: u64,
}

/// What a search is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// All that can be wrong.
    All,
    /// What the model itself says, but invalid end states, which transactions do not keep.
    AllButEnds,
    /// The invariant, if there is one.
    Invariant,
}

impl Asked {
    /// Whether an error of this kind is looked for.
    fn is_about(self, kind: &str) -> bool {
        match self {
            Self::All => true,
            Self::AllButEnds => !matches!(kind, "invalid-end-state" | "invariant"),
            Self::Invariant => matches!(kind, "invariant" | "runtime"),
        }
    }
}

/// A way to search.
#[derive(Clone, Debug)]
struct Way {
    asked: Asked,
    options: Vec<&'static str>,
}

/// What models are tried with.
struct Bench {
    spinward: Spinward,
    keep: PathBuf,
    /// A word that ways to search must have.
    only: Option<String>,
}

impl Bench {
    /// Tries the model of a seed; one in which something is missed is made smaller and kept.
    fn attempt(&self, seed: u64) -> Result<Verdict> {
        let model = match seed % 6 {
            0 | 1 => crowd(seed),
            2 | 3 => mutex(seed),
            _ => race(seed),
        };
        let mut searches = match seed % 6 {
            0 | 1 => searches_of_crowds(seed),
            _ => searches(seed, model.invariant.is_some()),
        };
        if let Some(only) = &self.only {
            searches.retain(|way| way.options.contains(&only.as_str()));
        }
        let verdict = self.compare(&model, &searches)?;
        if let Verdict::Compared(comparison) = &verdict
            && !comparison.differences.is_empty()
        {
            let folder = self.keep.join(seed.to_string());
            self.keep(&folder, "original", &model, &searches, &comparison.differences)?;
            let (small, differences) = self.shrink(&model, &searches, &comparison.differences);
            self.keep(&folder, "small", &small, &searches, &differences)?;
        }
        Ok(verdict)
    }

    fn compare(&self, model: &Race, searches: &[Way]) -> Result<Verdict> {
        let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
        fs::write(dir.path().join(FILE), &model.text).context("cannot write a model")?;
        compare(searches, |way| Ok(self.check(dir.path(), model, way)?.0))
    }

    fn check(&self, dir: &Path, model: &Race, way: &Way) -> Result<(Checked, String)> {
        let mut all = vec!["--errors", "0", "--time", TIME, "--memory", "500M"];
        if way.asked == Asked::All {
            all.push("--safety");
        }
        if way.asked != Asked::AllButEnds {
            all.extend(model.invariant.iter().flat_map(|invariant| ["--invariant", invariant]));
        }
        all.extend(&way.options);
        self.spinward.check_by(dir, FILE, &all, LIMIT)
    }

    /// Takes parts away as long as something is missed; also gives what differs in the end.
    fn shrink(&self, model: &Race, searches: &[Way], found: &[String]) -> (Race, Vec<String>) {
        let started = Instant::now();
        let with = |text: &str| Race { text: text.to_owned(), ..model.clone() };
        let mut differences = found.to_vec();
        let text = minimise(&model.text, &mut |text| {
            if started.elapsed() > SHRINKING {
                return false;
            }
            match self.compare(&with(text), searches) {
                Ok(Verdict::Compared(other)) if same_nature(found, &other.differences) => {
                    differences = other.differences;
                    true
                }
                _ => false,
            }
        });
        (with(&text), differences)
    }

    /// Writes a model, what differs, and the answers of all searches.
    fn keep(
        &self,
        folder: &Path,
        name: &str,
        model: &Race,
        searches: &[Way],
        differences: &[String],
    ) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(folder.join(format!("{name}.pml")), &model.text)?;
        let mut text = differences.join("\n") + "\n";
        if let Some(invariant) = &model.invariant {
            text += &format!("all with --invariant '{invariant}'\n");
        }
        let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
        fs::write(dir.path().join(FILE), &model.text)?;
        for way in [full()].iter().chain(searches) {
            let (_, answer) = self.check(dir.path(), model, way)?;
            text += &format!("\n== {} ==\n{answer}", way.options.join(" "));
        }
        fs::write(folder.join(format!("{name}.answers")), text)?;
        Ok(())
    }
}

/// The search that leaves out nothing.
fn full() -> Way {
    let more = ["--engine", "interpreter", "--threads", "1", "--max-states", STATES];
    Way { asked: Asked::All, options: [&AS_IT_STANDS[..], &more].concat() }
}

/// Searches that leave out states: by default in every order and engine, by a guide, and what leaves them out each
/// alone; and transactions.
fn searches(seed: u64, has_invariant: bool) -> Vec<Way> {
    let orders = ["dfs", "bfs", "sweep"];
    let threads = if seed.is_multiple_of(2) { ["1", "2"] } else { ["2", "1"] };
    let mut searches = Vec::new();
    for order in orders {
        for (engine, threads) in ["interpreter", "compiled"].into_iter().zip(threads) {
            searches.push(vec!["--search", order, "--engine", engine, "--threads", threads]);
        }
    }
    let order = |n: u64| orders[(n % 3) as usize];
    let (directed, guides) =
        (["astar", "greedy", "wastar"], ["formula", "active", "deadlock", "fsm-sum", "coverage"]);
    let guide = guides[(seed / 3 % 5) as usize];
    searches.push(vec!["--search", directed[(seed % 3) as usize], "--guide", guide]);
    let images = ["dpa", "dpa(n=10)", "pdb(n=100)", "max(dpa,fsm)"];
    let image = images[(seed / 6 % 4) as usize];
    searches.push(vec!["--search", directed[(seed % 3) as usize], "--guide", image]);
    searches.push(vec!["--search", "astar", "--guide", image, "--por", "off"]);
    searches.push(vec!["--optimize", "none", "--por", "on", "--search", order(seed)]);
    searches.push(vec!["--optimize", "full", "--por", "off", "--search", order(seed / 3)]);
    let all = searches.into_iter().map(|options| Way { asked: Asked::All, options });
    let engines = ["interpreter", "compiled"].into_iter().cycle().skip((seed % 2) as usize);
    let transactions = ["none", "full"].into_iter().zip(engines).flat_map(|(optimize, engine)| {
        let options = ["--por", "transactions", "--optimize", optimize, "--engine", engine];
        let way = |asked| Way { asked, options: options.to_vec() };
        [way(Asked::AllButEnds)].into_iter().chain(has_invariant.then(|| way(Asked::Invariant)))
    });
    all.chain(transactions).collect()
}

/// Those of searches that do not tell interchangeable processes apart, with and without what else leaves out
/// states.
fn searches_of_crowds(seed: u64) -> Vec<Way> {
    let orders = ["dfs", "bfs", "sweep"];
    let ways = [["full", "on"], ["none", "off"], ["none", "on"], ["full", "off"]];
    let all = orders.into_iter().flat_map(|order| ways.map(|way| (order, way)));
    let searches = all.zip(0..).filter(|(_, n)| n % 2 == seed % 2 || *n == 0);
    let by_image = ["--symmetry", "on", "--search", "astar", "--guide", "dpa(n=20)"];
    let by_image = Way { asked: Asked::All, options: by_image.to_vec() };
    searches
        .map(|((order, [optimize, por]), n)| {
            let threads = if n % 3 == 0 { "2" } else { "1" };
            let engine = if n % 4 < 2 { "compiled" } else { "interpreter" };
            let way = ["--symmetry", "on", "--optimize", optimize, "--por", por];
            let how = ["--search", order, "--threads", threads, "--engine", engine];
            Way { asked: Asked::All, options: [&way[..], &how].concat() }
        })
        .chain([by_image])
        .collect()
}

/// Holds what searches find against what is there; `check` runs the checker with options.
fn compare(searches: &[Way], mut check: impl FnMut(&Way) -> Result<Checked>) -> Result<Verdict> {
    let full = match check(&full())? {
        Ok(full) if full.finished() => full,
        Ok(_) => return Ok(Verdict::Skipped("too large".to_owned())),
        Err(why) => anyhow::bail!("the full search: {why}"),
    };
    let mut comparison = Comparison {
        wrong: !full.errors.is_empty(),
        states: full.statistics.states,
        ..Comparison::default()
    };
    let mut unfinished = None;
    for (n, way) in searches.iter().enumerate() {
        let name = way.options.join(" ");
        match check(way)? {
            Ok(reduced) if reduced.finished() => {
                let found = differences(&full, &reduced, way.asked);
                comparison.differences.extend(found.iter().map(|how| format!("{name}: {how}")));
                if n == 0 {
                    comparison.visited = reduced.statistics.states;
                }
            }
            Ok(_) => unfinished = Some(name),
            // Not every guide knows what to do with every model.
            Err(why) if why.contains(MISFIT) => {}
            Err(why) => comparison.differences.push(format!("{name}: {why}")),
        }
    }
    Ok(match unfinished {
        Some(name) if comparison.differences.is_empty() => {
            Verdict::Skipped(format!("not finished with {name}"))
        }
        _ => Verdict::Compared(comparison),
    })
}

/// What a search that leaves out states got wrong.
fn differences(full: &Answer, reduced: &Answer, asked: Asked) -> Vec<String> {
    let (expected, found) = (errors(full, asked), errors(reduced, asked));
    let missed = expected.difference(&found).map(|error| format!("missed {error}"));
    let invented = found.difference(&expected).map(|error| format!("invented {error}"));
    let mut differences: Vec<String> = missed.chain(invented).collect();
    let (all, visited) = (full.statistics.states, reduced.statistics.states);
    // Transactions tell states apart also by who is in the middle of one.
    if visited > all && asked == Asked::All {
        differences.push(format!("{visited} states instead of {all}"));
    }
    differences
}

/// The errors found of those that were looked for, each once.
fn errors(answer: &Answer, asked: Asked) -> BTreeSet<String> {
    let show = |error: &FoundError| match error.line {
        Some(line) => format!("{} `{}` in line {line}", error.kind, error.property),
        None => format!("{} `{}`", error.kind, error.property),
    };
    answer.errors.iter().filter(|error| asked.is_about(&error.kind)).map(show).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(states: u64, errors: &[Value]) -> Checked {
        let verdict = if errors.is_empty() { "verified" } else { "violated" };
        let statistics = json!({"states": states, "transitions": states});
        let answer = json!({"verdict": verdict, "errors": errors, "statistics": statistics});
        Ok(serde_json::from_value(answer).expect("an answer"))
    }

    fn assertion(line: u64) -> Value {
        json!({"kind": "assertion", "property": "assert(g0 == 0)", "line": line})
    }

    /// The differences that a checker shows.
    fn found(checker: impl Fn(&str) -> Checked) -> Vec<String> {
        match compare(&searches(0, false), |way| Ok(checker(&way.options.join(" ")))) {
            Ok(Verdict::Compared(comparison)) => comparison.differences,
            other => panic!("{other:?}"),
        }
    }

    fn is_full(options: &str) -> bool {
        options.contains("--optimize none --por off")
    }

    #[test]
    fn a_good_checker_passes() {
        let checker = |options: &str| match is_full(options) {
            true => answer(10, &[assertion(3), assertion(4)]),
            false => answer(7, &[assertion(4), assertion(3)]),
        };
        assert_eq!(found(checker), [] as [&str; 0]);
    }

    #[test]
    fn a_checker_that_misses_an_error_fails() {
        let lost = |options: &str| match is_full(options) {
            true => answer(10, &[assertion(3), assertion(4)]),
            false => answer(10, &[assertion(4)]),
        };
        assert_eq!(found(lost).len(), searches(0, false).len());
        let lost_once = |options: &str| match options.contains("--search bfs --engine compiled") {
            true => answer(10, &[]),
            false => answer(10, &[assertion(3)]),
        };
        let expected = "--search bfs --engine compiled --threads 2: \
            missed assertion `assert(g0 == 0)` in line 3";
        assert_eq!(found(lost_once), [expected]);
    }

    #[test]
    fn a_checker_that_invents_things_or_dies_fails() {
        let elsewhere = |options: &str| match is_full(options) {
            true => answer(10, &[assertion(3)]),
            false => answer(11, &[assertion(5)]),
        };
        // Those by transactions may have more states.
        assert_eq!(found(elsewhere).len(), 3 * searches(0, false).len() - 2);
        let dead = |options: &str| match is_full(options) {
            true => answer(10, &[]),
            false => Err("spinward died by signal 11".to_owned()),
        };
        assert_eq!(found(dead).len(), searches(0, false).len());
    }

    #[test]
    fn what_is_not_finished_is_not_compared() {
        let stopped = |stops: fn(&str) -> bool| {
            let checked = compare(&searches(0, false), |way| {
                let mut checked = answer(10, &[]);
                if let (Ok(answer), true) = (&mut checked, stops(&way.options.join(" "))) {
                    answer.reasons = serde_json::from_str(r#"[{"code": "time"}]"#)?;
                }
                Ok(checked)
            });
            matches!(checked, Ok(Verdict::Skipped(_)))
        };
        assert!(stopped(is_full));
        assert!(stopped(|options| options.contains("sweep")));
        assert!(!stopped(|_| false));
    }
}
