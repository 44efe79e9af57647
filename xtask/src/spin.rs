//! Runs SPIN: generates, compiles and starts its verifier `pan`, and reads what that prints.
//!
//! "Raw mode" is SPIN without any of its transformations and reductions: the plain meaning of a
//! model, whose numbers of states, transitions and errors do not depend on the search order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
pub use spinward_bench::pan::{PanReport, same_count};
use spinward_bench::pan::{has_claim, number_after};

use crate::process::{self, Ended};

/// Longest time given to SPIN itself and to the C compiler.
const TOOL_LIMIT: Duration = Duration::from_secs(120);

/// Options that turn off SPIN's dead-variable resets, its hiding of unread variables and its
/// merging of statements.
const RAW: [&str; 3] = ["-o1", "-o2", "-o3"];

/// A verifier in C, generated in a directory of its own.
#[derive(Debug)]
pub struct Generated {
    dir: PathBuf,
    /// The model has a never claim or an LTL formula.
    pub claim: bool,
    /// The model has a rendezvous channel.
    pub rendezvous: bool,
    /// The model has a trace or notrace assertion.
    pub trace: bool,
}

/// Why SPIN gave no verifier, or no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// The C compiler for `pan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// `gcc -O2`: for long searches.
    GccFast,
    /// `gcc -O0`: for small models.
    GccQuick,
    /// `tcc`: compiles some twenty times faster than gcc.
    Tcc,
}

impl Compiler {
    /// The one that has a small model verified soonest: tcc where it is installed.
    pub fn quickest() -> Self {
        let mut tcc = Command::new("tcc");
        match process::run(tcc.arg("-v"), TOOL_LIMIT) {
            Ok(output) if output.success() => Self::Tcc,
            _ => Self::GccQuick,
        }
    }

    fn command(self) -> Command {
        // An int of Promela wraps around; GCC must not take the overflow for impossible.
        let (program, options): (_, &[_]) = match self {
            Self::GccFast => ("gcc", &["-O2", "-fwrapv"]),
            Self::GccQuick => ("gcc", &["-O0", "-fwrapv"]),
            Self::Tcc => ("tcc", &["-O0"]),
        };
        let mut command = Command::new(program);
        command.args(options).arg("-w");
        command
    }
}

/// Lets SPIN generate the raw verifier of `model`, a file in `dir`.
///
/// The outer error is trouble in running SPIN at all, the inner one is what SPIN has against the model.
pub fn generate(dir: &Path, model: &str) -> Result<std::result::Result<Generated, Refusal>> {
    let mut spin = Command::new("spin");
    spin.args(RAW).arg("-a").arg(model).current_dir(dir);
    let output = process::run(&mut spin, TOOL_LIMIT).context("cannot run spin")?;
    let source = dir.join("pan.c");
    if !output.success() || !source.exists() {
        let complaint = complaint(&output.stdout)
            .or_else(|| complaint(&output.stderr))
            .unwrap_or_else(|| output.last_words());
        let words = match output.ended {
            Ended::Code(_) => complaint.to_owned(),
            Ended::Signal(signal) => format!("spin died by signal {signal}"),
            Ended::TimedOut => "spin: timeout".to_owned(),
        };
        return Ok(Err(Refusal(words)));
    }
    let header = fs::read_to_string(dir.join("pan.h")).context("cannot read pan.h")?;
    let source = fs::read_to_string(source).context("cannot read pan.c")?;
    Ok(Ok(Generated {
        dir: dir.to_owned(),
        claim: has_claim(&header),
        trace: header.contains("#define EVENT_TRACE\t"),
        rendezvous: has_rendezvous(&source),
    }))
}

/// The never claim that SPIN makes of a formula that is to hold, under this name. For some formulas it takes minutes.
pub fn never(
    name: &str,
    formula: &str,
    limit: Duration,
) -> Result<std::result::Result<String, Refusal>> {
    let mut spin = Command::new("spin");
    spin.args(["-f", &format!("!({formula})")]);
    let output = process::run(&mut spin, limit).context("cannot run spin")?;
    let body = output.stdout.split_once("never ").filter(|_| output.success());
    Ok(match body {
        Some((_, body)) => Ok(format!("never {name} {}\n", body.trim())),
        None => Err(Refusal(format!("spin makes no claim of {formula}: {}", output.last_words()))),
    })
}

/// The first line in which SPIN names an error.
fn complaint(text: &str) -> Option<&str> {
    text.lines()
        .find(|line| line.contains("rror") && !line.contains("dubious use of 'else'"))
        .map(str::trim)
}

/// Whether a channel has capacity 0: `pan.c` has a function that tells for each kind of channel.
fn has_rendezvous(source: &str) -> bool {
    source
        .split_once("\nq_zero(int from)")
        .and_then(|(_, rest)| rest.split_once("bad queue q-zero"))
        .is_some_and(|(body, _)| {
            body.lines()
                .any(|line| line.trim_start().starts_with("case ") && line.ends_with(": return 1;"))
        })
}

impl Generated {
    /// Compiles the verifier with `defines` to a program called `name`.
    pub fn compile(
        &self,
        compiler: Compiler,
        defines: &[&str],
        name: &str,
    ) -> Result<std::result::Result<Verifier, Refusal>> {
        let mut command = compiler.command();
        command.args(defines).args(["-o", name, "pan.c"]).current_dir(&self.dir);
        let output = process::run(&mut command, TOOL_LIMIT).context("cannot run the C compiler")?;
        if !output.success() {
            let words = complaint(&output.stderr).unwrap_or_else(|| output.last_words());
            return Ok(Err(Refusal(format!("C compiler: {words}"))));
        }
        Ok(Ok(Verifier { dir: self.dir.clone(), program: self.dir.join(name) }))
    }

    /// The defines of a raw safety search that leaves claims out, and others wished for.
    pub fn raw_defines(&self, more: &[&'static str]) -> Vec<&'static str> {
        let mut defines = vec!["-DNOREDUCE", "-DSAFETY", "-DMEMLIM=6000"];
        if self.claim {
            defines.push("-DNOCLAIM");
        }
        defines.extend(more);
        defines
    }
}

/// A compiled verifier.
#[derive(Debug)]
pub struct Verifier {
    dir: PathBuf,
    program: PathBuf,
}

impl Verifier {
    /// Runs the verifier with `arguments`, at most for `limit`.
    pub fn run(&self, arguments: &[&str], limit: Duration) -> Result<PanRun> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.dir);
        let output = process::run(&mut command, limit).context("cannot run pan")?;
        Ok(PanRun {
            report: PanReport::parse(&output.stdout),
            ended: output.ended,
            text: output.stdout + &output.stderr,
        })
    }
}

/// One run of `pan`.
#[derive(Debug)]
pub struct PanRun {
    /// What it reported, if it came to report.
    pub report: Option<PanReport>,
    /// How it ended.
    pub ended: Ended,
    /// Everything it printed.
    pub text: String,
}

impl PanRun {
    /// Why the run says nothing about the whole state space, if so.
    pub fn trouble(&self) -> Option<String> {
        match (self.ended, &self.report) {
            (Ended::TimedOut, _) => Some("pan: timeout".to_owned()),
            (Ended::Signal(signal), _) => Some(format!("pan died by signal {signal}")),
            (Ended::Code(_), Some(report)) if report.truncated => {
                Some("pan: max search depth too small".to_owned())
            }
            (Ended::Code(_), Some(report)) if report.stopped => {
                let last = report.messages.last();
                let why = last.map_or("search not completed", |message| message.text.as_str());
                Some(format!("pan: fatal: {why}"))
            }
            (Ended::Code(0), Some(_)) => None,
            (Ended::Code(code), _) => Some(format!("pan: exit code {code}")),
        }
    }
}

/// The number of steps in a trail file, without its header lines.
pub fn trail_steps(trail: &str) -> u64 {
    let step = |line: &&str| !line.starts_with('-') && line.contains(':');
    trail.lines().filter(step).count() as u64
}

/// What `spin -t` shows when it replays a trail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// An assertion failed.
    pub assertion: bool,
    /// The first line that tells of a step that could not be taken.
    pub failed: Option<String>,
    /// The step after which the trail ends, if the replay came so far.
    pub steps: Option<u64>,
    /// Processes alive at the end.
    pub processes: u64,
    /// Processes alive at the end that are not at a valid end state.
    pub unfinished: u64,
}

impl Replay {
    /// Replays `trail` of `model` with SPIN; both are files in `dir`.
    pub fn run(dir: &Path, model: &str, trail: &str) -> Result<(Self, String)> {
        let mut spin = Command::new("spin");
        spin.args(["-k", trail, "-p", model]).current_dir(dir);
        let output = process::run(&mut spin, TOOL_LIMIT).context("cannot run spin")?;
        let text = output.stdout + &output.stderr;
        Ok((Self::parse(&text), text))
    }

    /// Reads what `spin -t -p` printed.
    fn parse(text: &str) -> Self {
        let mut replay = Self::default();
        for line in text.lines() {
            if line.contains("Error: assertion violated") {
                replay.assertion = true;
            } else if line.starts_with("spin: trail ends after") {
                replay.steps = number_after(line, "after ");
            } else if let Some(count) = line.strip_prefix("#processes:") {
                replay.processes = count.trim().parse().unwrap_or(0);
            } else if replay.steps.is_some() {
                let process = line.contains(":\tproc ") && line.contains("(state ");
                if process && !line.contains("<valid end state>") {
                    replay.unfinished += 1;
                }
            } else if replay.failed.is_none() && tells_failure(line) {
                replay.failed = Some(line.trim().to_owned());
            }
        }
        replay
    }
}

/// Whether a line of `spin -t` says that a step could not be taken.
///
/// The line must be SPIN's own: the model may print anything too.
fn tells_failure(line: &str) -> bool {
    const MESSAGES: [&str; 4] =
        ["stop error, ", "no process ", "error: invalid statement", "proc "];
    if line.trim() == "transition failed" || line.starts_with("spin: cannot find trail") {
        return true;
    }
    let Some((step, message)) = line.split_once(": ") else {
        return false;
    };
    step.trim().parse::<u64>().is_ok()
        && MESSAGES.iter().any(|start| message.starts_with(start))
        && (!message.starts_with("proc ") || message.contains("no matching stmnt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trail_headers_are_not_steps() {
        assert_eq!(trail_steps("-4:-4:-4\n1:0:1\n2:1:7\n-1:-1:-1\n3:0:2\n"), 3);
    }

    #[test]
    fn rendezvous_shows_in_the_source() {
        let with = |answer: u8| {
            format!(
                "int\nq_zero(int from)\n{{\tswitch(t) {{\n\tcase 1: return {answer};\n\t}}\n\tUerror(\"bad queue q-zero\");\n"
            )
        };
        assert!(has_rendezvous(&with(1)));
        assert!(!has_rendezvous(&with(0)));
    }

    #[test]
    fn reads_a_replay_that_ends_in_a_failed_assertion() {
        let replay = Replay::parse(
            "  1:\tproc  0 (P:1) r.pml:1 (state 2)\t[(1)]\nspin: r.pml:1, Error: assertion violated\nspin: text of failed assertion: assert(0)\nspin: trail ends after 1 steps\n#processes: 1\n\t\tx = 0\n  1:\tproc  0 (P:1) r.pml:1 (state 6) <valid end state>\n1 process created\n",
        );
        assert_eq!(
            replay,
            Replay { assertion: true, failed: None, steps: Some(1), processes: 1, unfinished: 0 }
        );
    }

    #[test]
    fn reads_a_replay_that_fails() {
        let replay = Replay::parse(
            "  2:\tproc  0 (P:1) e.pml:2 (state 1)\t[c!1]\n  3:\tproc  0 (P:1) e.pml:2 (state 2)\t[c!2]\n\ttransition failed\nspin: trail ends after 3 steps\n#processes: 2\n  3:\tproc  1 (Q:1) e.pml:3 (state 5)\n  3:\tproc  0 (P:1) e.pml:2 (state 2)\n",
        );
        assert_eq!(replay.failed.as_deref(), Some("transition failed"));
        assert_eq!((replay.processes, replay.unfinished), (2, 2));
    }

    #[test]
    fn tells_failures_from_other_lines() {
        assert!(tells_failure("  7: no process 3 (stmnt 12)"));
        assert!(tells_failure("  7: proc 1, no matching stmnt 12"));
        assert!(!tells_failure("  7: proc 1 terminates"));
        assert!(!tells_failure("          message lost"));
    }
}
