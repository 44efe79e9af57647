//! `cargo xtask fuzz`: no text makes the front end or the machine panic, hang, overflow the stack or
//! eat all memory.
//!
//! A crash ends a process, so mutants are tried in *workers*: this program once more, in the debug
//! build (which checks its arithmetic), with a limit on its memory. A worker says which mutant it
//! begins and, if all is well, goes on to the next; one that ends or says nothing for too long has
//! found something. The mutant is a function of its seed, so it can be made again here, made
//! smaller, and kept.

mod minimise;
mod mutate;
mod trial;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::process::{self, Ended, Output};
use crate::test::cargo;
use crate::{Tally, project_root, random, workers};
pub use minimise::minimise;
use mutate::Corpus;

/// The time for one mutant, of which a search that is told to end gets two seconds.
const LIMIT: Duration = Duration::from_secs(10);

/// The time for making a failing mutant smaller.
const SHRINKING: Duration = Duration::from_secs(60);

/// Kilobytes a worker may use.
const MEMORY: &str = "2000000";

/// The stack that users of the library can be expected to have.
const STACK: usize = 8 << 20;

/// Try to break the checker with mutated models
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// How long to go on
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many mutants, if the time allows
    #[arg(long)]
    count: Option<u64>,
    /// The seed of the first mutant; the others follow it [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,
    /// Mutants to try at a time
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Where failing texts go [default: target/fuzz-failures]
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Folders with models to start from [default: models]
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
}

impl Options {
    /// The options of the test command.
    pub fn for_seconds(seconds: u64, jobs: usize) -> Self {
        Self { seconds, count: None, seed: None, jobs, keep: None, folders: Vec::new() }
    }
}

/// Try texts until something goes wrong
#[derive(Clone, Debug, Args)]
pub struct WorkerOptions {
    /// Try this text only
    #[arg(long)]
    text: Option<PathBuf>,
    /// Where the text is said to stand
    #[arg(long, default_value = "model.pml")]
    path: PathBuf,
    /// The seed of the first mutant
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// From one seed to the next
    #[arg(long, default_value_t = 1)]
    step: u64,
    /// Folders with models to start from
    folders: Vec<PathBuf>,
}

/// Runs a worker: says each seed before its mutant is tried.
pub fn work(options: &WorkerOptions) -> Result<ExitCode> {
    if let Some(file) = &options.text {
        let text = fs::read_to_string(file).context("no text")?;
        return attempt(options.path.clone(), text);
    }
    let corpus = Corpus::read(&options.folders)?;
    let mut seed = options.seed;
    loop {
        let mutant = corpus.mutant(seed);
        writeln!(std::io::stdout(), "{seed}")?;
        attempt(mutant.path, mutant.text)?;
        seed = seed.wrapping_add(options.step);
    }
}

/// Tries a text on a stack of the size users have.
fn attempt(path: PathBuf, text: String) -> Result<ExitCode> {
    let trial = thread::Builder::new()
        .stack_size(STACK)
        .name("trial".into())
        .spawn(move || trial::run(&path, &text))?;
    ensure!(trial.join().is_ok(), "the trial failed");
    Ok(ExitCode::SUCCESS)
}

/// Runs the command.
pub fn run(options: &Options) -> Result<ExitCode> {
    let seed = options.seed.unwrap_or_else(random::clock);
    println!("seed {seed}");
    let code = cargo(&["build", "--package", "xtask"], None)?;
    ensure!(code == 0, "the debug build failed");
    let folders = match options.folders.as_slice() {
        [] => vec![project_root().join("models")],
        folders => folders.to_vec(),
    };
    let keep = options.keep.clone();
    let fuzzer = Fuzzer {
        program: debug_build()?,
        corpus: Corpus::read(&folders)?,
        folders,
        keep: keep.unwrap_or_else(|| project_root().join("target/fuzz-failures")),
        end: Instant::now() + Duration::from_secs(options.seconds),
        jobs: options.jobs.max(1) as u64,
        known: Mutex::default(),
    };
    let mut tally = Tally::default();
    let mut problem = None;
    workers::run(
        options.jobs,
        0..fuzzer.jobs,
        |job| {
            let share = options
                .count
                .map(|count| count / fuzzer.jobs + u64::from(job < count % fuzzer.jobs));
            fuzzer.run(seed.wrapping_add(job), share.unwrap_or(u64::MAX))
        },
        |done| match done {
            Ok(done) => {
                tally.passed += done.passed;
                tally.failed += done.failed;
                tally.skipped += done.skipped;
            }
            Err(error) => problem = Some(error),
        },
    );
    match problem {
        Some(error) => Err(error),
        None => Ok(tally.conclude()),
    }
}

/// This program as the debug build has it, in the folder beside the one that runs.
fn debug_build() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program has no path")?;
    let target = own.ancestors().nth(2).context("this program is in no build folder")?;
    Ok(target.join("debug/xtask"))
}

/// What went wrong, in a line, and a name for all that went wrong in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    kind: String,
    message: String,
}

impl Finding {
    /// What the end of a worker tells.
    fn of(ended: Ended, stderr: &str) -> Self {
        let kind = if ended == Ended::TimedOut {
            "hangs".to_owned()
        } else if let Some(place) = stderr.split("panicked at ").nth(1) {
            let place = place.lines().next().unwrap_or_default();
            format!("panic at {}", place.trim_end_matches(':'))
        } else if stderr.contains("overflowed its stack") {
            "stack overflow".to_owned()
        } else if stderr.contains("memory allocation of") {
            "out of memory".to_owned()
        } else {
            format!("{ended:?}")
        };
        let after = stderr.split("panicked at ").nth(1).unwrap_or_default();
        let message: Vec<&str> = after.lines().skip(1).take(3).collect();
        Self { kind, message: message.join(" ") }
    }
}

/// What all jobs share.
struct Fuzzer {
    /// The program of the workers.
    program: PathBuf,
    corpus: Corpus,
    folders: Vec<PathBuf>,
    keep: PathBuf,
    end: Instant,
    jobs: u64,
    /// Kinds of findings that were made smaller and kept already.
    known: Mutex<BTreeSet<String>>,
}

impl Fuzzer {
    /// Tries every so many mutants from a seed on.
    fn run(&self, first: u64, count: u64) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut seed = first;
        let mut left = count;
        while left > 0 && Instant::now() < self.end {
            let mut worker = Worker::start(self, seed)?;
            let ended = worker.follow(self.end, left);
            let (tried, last, finding) = ended?;
            left = left.saturating_sub(tried);
            tally.passed += tried;
            if let (Some(last), Some(finding)) = (last, finding) {
                let real = self.report(last, &finding)?;
                tally.passed -= u64::from(real);
                tally.failed += u64::from(real);
                seed = last.wrapping_add(self.jobs);
            }
        }
        Ok(tally)
    }

    /// Tells of a finding and keeps it; false if it cannot be repeated, as when the machine was so
    /// busy that a mutant got no time.
    fn report(&self, seed: u64, finding: &Finding) -> Result<bool> {
        let mutant = self.corpus.mutant(seed);
        let again = self.attempt(&mutant.path, &mutant.text)?;
        let Some(finding) = again else {
            println!("seed {seed}: {} did not repeat", finding.kind);
            return Ok(false);
        };
        println!("FAILED seed {seed}: {}: {}", finding.kind, finding.message);
        let new =
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(finding.kind.clone());
        if new {
            let small = self.minimised(&mutant.path, &mutant.text, &finding)?;
            fs::create_dir_all(&self.keep)?;
            let file = self.keep.join(format!("{seed}.pml"));
            fs::write(&file, &small).with_context(|| file.display().to_string())?;
            println!("  {} bytes in {}", small.len(), file.display());
        }
        Ok(true)
    }

    fn minimised(&self, path: &Path, text: &str, finding: &Finding) -> Result<String> {
        let end = Instant::now() + SHRINKING;
        let mut problem = None;
        let small = minimise(text, &mut |text| {
            if Instant::now() >= end {
                return false;
            }
            match self.attempt(path, text) {
                Ok(found) => found.is_some_and(|found| found.kind == finding.kind),
                Err(error) => {
                    problem = Some(error);
                    false
                }
            }
        });
        problem.map_or(Ok(small), Err)
    }

    /// Tries one text in a worker of its own.
    fn attempt(&self, path: &Path, text: &str) -> Result<Option<Finding>> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(text.as_bytes())?;
        let mut command = self.command();
        command.arg("--text").arg(file.path()).arg("--path").arg(path);
        let Output { ended, stderr, .. } = process::run(&mut command, LIMIT)?;
        Ok((ended != Ended::Code(0)).then(|| Finding::of(ended, &stderr)))
    }

    /// A worker's command, with a limit on its memory.
    fn command(&self) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v $0 && exec \"$@\"", MEMORY]);
        command.arg(&self.program).arg("fuzz-worker");
        command
    }
}

/// A worker, and the seeds it says.
struct Worker {
    child: Child,
    seeds: Receiver<u64>,
    words: Option<thread::JoinHandle<String>>,
}

impl Worker {
    fn start(fuzzer: &Fuzzer, seed: u64) -> Result<Self> {
        let mut command = fuzzer.command();
        command.args(["--seed", &seed.to_string(), "--step", &fuzzer.jobs.to_string()]);
        command.args(&fuzzer.folders).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (sender, seeds) = mpsc::channel();
        let stdout = child.stdout.take().context("the worker is mute")?;
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.parse().is_ok_and(|seed| sender.send(seed).is_err()) {
                    break;
                }
            }
        });
        let words = child.stderr.take().map(process::collect);
        Ok(Self { child, seeds, words })
    }

    /// Follows the worker until it has tried so many mutants, its time is over or it fails: how many
    /// it began, the last of them, and what went wrong with that.
    fn follow(&mut self, end: Instant, count: u64) -> Result<(u64, Option<u64>, Option<Finding>)> {
        let mut tried = 0;
        let mut last = None;
        let ended = loop {
            match self.seeds.recv_timeout(LIMIT) {
                Ok(seed) if tried >= count || Instant::now() >= end => {
                    // The one it has just begun is not waited for.
                    return Ok((tried, Some(seed), None));
                }
                Ok(seed) => {
                    tried += 1;
                    last = Some(seed);
                }
                Err(RecvTimeoutError::Timeout) => break Ended::TimedOut,
                Err(RecvTimeoutError::Disconnected) => {
                    break process::ended(self.child.wait()?);
                }
            }
        };
        self.stop();
        let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
        ensure!(last.is_some(), "a worker does not start: {words}");
        Ok((tried, last, Some(Finding::of(ended, &words))))
    }

    fn stop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_told_apart() {
        let panic = "thread 'trial' panicked at crates/x/src/y.rs:7:9:\nindex out\nnote: run";
        let found = Finding::of(Ended::Code(2), panic);
        assert_eq!(found.kind, "panic at crates/x/src/y.rs:7:9");
        assert!(found.message.starts_with("index out"));
        let overflow = "\nthread 'trial' has overflowed its stack\nfatal runtime error";
        assert_eq!(Finding::of(Ended::Signal(6), overflow).kind, "stack overflow");
        assert_eq!(Finding::of(Ended::TimedOut, "").kind, "hangs");
        assert_eq!(Finding::of(Ended::Signal(9), "").kind, "Signal(9)");
    }
}
