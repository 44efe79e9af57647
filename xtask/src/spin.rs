//! Runs SPIN: generates, compiles and starts its verifier `pan`, and reads what that prints.
//!
//! "Raw mode" is SPIN without any of its transformations and reductions: the plain meaning of a
//! model, whose numbers of states, transitions and errors do not depend on the search order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

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
        let (program, level) = match self {
            Self::GccFast => ("gcc", "-O2"),
            Self::GccQuick => ("gcc", "-O0"),
            Self::Tcc => ("tcc", "-O0"),
        };
        let mut command = Command::new(program);
        command.args([level, "-w"]);
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

/// The first line in which SPIN names an error.
fn complaint(text: &str) -> Option<&str> {
    text.lines()
        .find(|line| line.contains("rror") && !line.contains("dubious use of 'else'"))
        .map(str::trim)
}

/// Whether the model has a claim: `pan.h` then counts them.
fn has_claim(header: &str) -> bool {
    header.contains("#define NCLAIMS\t")
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

/// The figures and errors of a search by `pan`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanReport {
    /// States stored.
    pub states: u64,
    /// Transitions: states stored and matched.
    pub transitions: u64,
    /// Errors counted.
    pub errors: u64,
    /// Deepest step.
    pub depth: u64,
    /// The errors printed; pan prints equal ones in a row only once.
    pub messages: Vec<PanError>,
    /// The depth limit cut the search off.
    pub truncated: bool,
    /// The search ended before its time: at the errors asked for, or by a fatal error.
    pub stopped: bool,
}

/// One error as `pan` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanError {
    /// Such as `invalid end state`.
    pub text: String,
    /// The depth printed with it, -1 for an error in the initial state.
    pub depth: i64,
}

impl PanReport {
    /// Reads what `pan` printed; `None` if it did not come to its summary.
    pub fn parse(text: &str) -> Option<Self> {
        let mut report = Self::default();
        let mut complete = (false, false, false);
        for line in text.lines() {
            if let Some(error) = PanError::parse(line) {
                report.messages.push(error);
            } else if line.starts_with("error: max search depth too small") {
                report.truncated = true;
            } else if line.starts_with("Warning: Search not completed") {
                report.stopped = true;
            } else if line.starts_with("State-vector ") {
                report.errors = number_after(line, "errors: ")?;
                report.depth = number_after(line, "depth reached ")?;
                complete.0 = true;
            } else if line.contains(" states, stored") {
                report.states = leading_number(line)?;
                complete.1 = true;
            } else if line.contains(" transitions (= ") {
                report.transitions = leading_number(line)?;
                complete.2 = true;
            }
        }
        (complete == (true, true, true)).then_some(report)
    }
}

impl PanError {
    /// Reads a line such as `pan:1: invalid end state (at depth 29)`.
    fn parse(line: &str) -> Option<Self> {
        let (number, rest) = line.strip_prefix("pan:")?.split_once(": ")?;
        number.parse::<u64>().ok()?;
        let (text, depth) = rest.rsplit_once(" (at depth ")?;
        Some(Self { text: text.to_owned(), depth: depth.trim_end_matches(')').parse().ok()? })
    }
}

/// The number that stands after `label` in `line`.
fn number_after(line: &str, label: &str) -> Option<u64> {
    let (_, rest) = line.split_once(label)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The number a line starts with, which `pan` prints with 8 digits and an exponent where it is large.
fn leading_number(line: &str) -> Option<u64> {
    let word = line.split_whitespace().next()?;
    let value: f64 = word.parse().ok()?;
    (value >= 0.0).then_some(value as u64)
}

/// Whether two counts are equal as far as `pan` prints them: it keeps 8 digits.
pub fn same_count(spin: u64, ours: u64) -> bool {
    if spin < 100_000_000 {
        return spin == ours;
    }
    let unit = 10_u64.pow(spin.ilog10() - 7);
    spin.abs_diff(ours) <= unit
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

    const VIOLATED: &str = "\
pan:1: assertion violated (x!=3) (at depth 16)
pan: wrote d.pml.trail
pan:9: invalid end state (at depth 18)

(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
	never claim         	- (none specified)
	assertion violations	+
	cycle checks       	- (disabled by -DSAFETY)
	invalid end states	+

State-vector 36 byte, depth reached 19, errors: 17
       38 states, stored
       10 states, matched
       48 transitions (= stored+matched)
        0 atomic steps
hash conflicts:         0 (resolved)
";

    #[test]
    fn reads_a_summary_with_errors() {
        let report = PanReport::parse(VIOLATED).expect("a summary");
        assert_eq!(
            (report.states, report.transitions, report.errors, report.depth),
            (38, 48, 17, 19)
        );
        assert!(!report.truncated && !report.stopped);
        let texts: Vec<_> = report.messages.iter().map(|m| (&*m.text, m.depth)).collect();
        assert_eq!(texts, [("assertion violated (x!=3)", 16), ("invalid end state", 18)]);
    }

    #[test]
    fn reads_large_numbers_truncation_and_early_stop() {
        let text = VIOLATED
            .replace("       38 states", "1.2345678e+08 states")
            .replace("\n(Spin", "error: max search depth too small\n(Spin")
            .replace("-- 6 December 2019)", "--)\nWarning: Search not completed");
        let report = PanReport::parse(&text).expect("a summary");
        assert_eq!(report.states, 123_456_780);
        assert!(report.truncated && report.stopped);
    }

    #[test]
    fn reads_an_error_in_the_initial_state() {
        let error = PanError::parse("pan:1: invalid end state (at depth -1)");
        assert_eq!(error.map(|error| error.depth), Some(-1));
    }

    #[test]
    fn no_summary_is_no_report() {
        assert_eq!(PanReport::parse("pan:1: invalid end state (at depth 3)\n"), None);
    }

    #[test]
    fn counts_are_compared_as_far_as_printed() {
        assert!(same_count(48, 48));
        assert!(!same_count(48, 49));
        assert!(same_count(123_456_780, 123_456_784));
        assert!(!same_count(123_456_780, 123_456_884));
    }

    #[test]
    fn trail_headers_are_not_steps() {
        assert_eq!(trail_steps("-4:-4:-4\n1:0:1\n2:1:7\n-1:-1:-1\n3:0:2\n"), 3);
    }

    #[test]
    fn a_claim_shows_in_the_header() {
        assert!(has_claim("#ifndef NOCLAIM\n\t#define NCLAIMS\t1\n"));
        assert!(!has_claim("#ifndef NCLAIMS\n\t#define NCLAIMS 1\n"));
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
