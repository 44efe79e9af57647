//! SPIN as a job that judges one temporal property: `pan -a`, and `pan -a -f` for the fair runs.
//!
//! As in `spin.rs`, each property is verified once without being measured, as often as it takes to know
//! what `pan` must be told. Beside the depth and the table this is how it is compiled: with room for
//! the counters of fairness (`NFAIR`), and without partial-order reduction where SPIN itself says that it
//! would be wrong: with fairness and rendezvous, and with references to local variables of processes.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::properties::{self, Property};
use super::results::{Judged, Verdict};
use super::trail::Run;
use crate::measure::Measured;
use crate::pan::{PanReport, number_after};
use crate::process::Limits;
use crate::spin::{DEPTHS, TABLE, table_for};

/// Where SPIN's own default for `NFAIR` is, and where it ends: a model has at most 255 processes.
const COUNTERS: (u64, u64) = (2, 64);

/// How a verifier is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Build {
    reduced: bool,
    counters: u64,
}

impl Build {
    /// The name of the program; that of another build is another.
    fn program(self) -> String {
        format!("pan-{}{}", self.counters, if self.reduced { "" } else { "-noreduce" })
    }
}

/// What a verifier has to be told beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned {
    build: Build,
    depth: u64,
    table: u32,
}

impl Tuned {
    /// Whether it uses partial-order reduction.
    pub fn reduced(self) -> bool {
        self.build.reduced
    }
}

/// Why a search gave no figures.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Refused {
    /// It must be compiled without reduction.
    Reduction,
    /// It must be compiled with so many counters.
    Counters(u64),
    /// It must be told to look deeper.
    Depth,
    /// For this reason.
    Reason(String),
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

/// Has SPIN make the verifier of a model, a file in `dir`; gives the properties it is for.
pub fn generate(dir: &Path, model: &str, limits: Limits<'_>) -> Result<Vec<Property>, String> {
    // The model's folder may have one.
    let source = dir.join("pan.c");
    let _ = fs::remove_file(&source);
    let mut spin = Command::new("spin");
    spin.args(["-a", model]).current_dir(dir);
    let generated = limits.run("spin", &[0], &mut spin)?;
    let read = |name: &str| fs::read(dir.join(name)).unwrap_or_default();
    let (header, source) = (read("pan.h"), read("pan.c"));
    if source.is_empty() {
        return Err("spin: no verifier".to_owned());
    }
    let (header, source) = (String::from_utf8_lossy(&header), String::from_utf8_lossy(&source));
    Ok(properties::stated(&generated.stdout, &header, &source))
}

/// Finds out what the verifier has to be told of a property; the error says why it cannot be judged.
pub fn tune(
    dir: &Path,
    model: &str,
    property: &Property,
    fair: bool,
    limits: Limits<'_>,
) -> Result<(Tuned, Judged), String> {
    let header = fs::read(dir.join("pan.h")).unwrap_or_default();
    let reduced = !refers_to_locals(&String::from_utf8_lossy(&header));
    let mut build = Build { reduced, counters: COUNTERS.0 };
    let mut depths = DEPTHS.into_iter();
    let mut depth = depths.next();
    while let Some(now) = depth {
        let tuned = Tuned { build, depth: now, table: TABLE };
        compile(dir, build, limits)?;
        match search(dir, model, property, fair, tuned, limits) {
            Ok(judged) => {
                let table = table_for(judged.measured.states, 0);
                return Ok((Tuned { table, ..tuned }, judged));
            }
            Err(Refused::Reduction) if build.reduced => build.reduced = false,
            Err(Refused::Counters(more)) if more > build.counters && more <= COUNTERS.1 => {
                build.counters = more;
            }
            Err(Refused::Depth) => depth = depths.next(),
            Err(refused) => return Err(reason(refused)),
        }
    }
    Err("pan: runs are too deep".to_owned())
}

/// Runs the verifier on a property.
pub fn verify(
    dir: &Path,
    model: &str,
    property: &Property,
    fair: bool,
    tuned: Tuned,
    limits: Limits<'_>,
) -> Result<Judged, String> {
    search(dir, model, property, fair, tuned, limits).map_err(reason)
}

fn reason(refused: Refused) -> String {
    match refused {
        Refused::Reduction => "pan: partial-order reduction cannot be used".to_owned(),
        Refused::Counters(_) => "pan: too many processes for fairness".to_owned(),
        Refused::Depth => "pan: max search depth too small".to_owned(),
        Refused::Reason(reason) => reason,
    }
}

/// Whether SPIN warns, when the verifier is compiled, that reduction does not fit.
fn refers_to_locals(header: &str) -> bool {
    header.lines().any(|line| line.trim_start().starts_with("#define REM_VARS"))
}

/// C to program, if there is none yet.
fn compile(dir: &Path, build: Build, limits: Limits<'_>) -> Result<(), String> {
    let program = build.program();
    if dir.join(&program).exists() {
        return Ok(());
    }
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-w"]).arg(format!("-DMEMLIM={}", (limits.memory >> 20).max(1)));
    if build.counters != COUNTERS.0 {
        gcc.arg(format!("-DNFAIR={}", build.counters));
    }
    if !build.reduced {
        gcc.arg("-DNOREDUCE");
    }
    gcc.args(["-o", &program, "pan.c"]).current_dir(dir);
    limits.run("gcc", &[0], &mut gcc).map(|_| ())
}

fn search(
    dir: &Path,
    model: &str,
    property: &Property,
    fair: bool,
    tuned: Tuned,
    limits: Limits<'_>,
) -> Result<Judged, Refused> {
    let trail = dir.join(format!("{model}.trail"));
    let _ = fs::remove_file(&trail);
    let mut pan = Command::new(dir.join(tuned.build.program()));
    pan.args(["-a", "-n", &format!("-m{}", tuned.depth), &format!("-w{}", tuned.table)]);
    if fair {
        pan.arg("-f");
    }
    if property.one_of_many {
        pan.args(["-N", &property.name]);
    }
    let job = limits.run("pan", &[0, 1], pan.current_dir(dir))?;
    if let Some(refused) = refused(&job.stdout, &job.stderr) {
        return Err(refused);
    }
    if let Some(trouble) = job.trouble("pan", &[0]) {
        return Err(Refused::Reason(trouble));
    }
    let run = fs::read_to_string(&trail).ok().and_then(|text| Run::parse(&text));
    let report = PanReport::parse(&job.stdout).ok_or_else(|| "pan: no figures".to_owned())?;
    let (verdict, run) = judge(&report, run)?;
    let measured = Measured {
        seconds: Some(job.elapsed.as_secs_f64()),
        cpu: job.usage.cpu.as_secs_f64(),
        states: report.states,
        transitions: Some(report.transitions),
        bytes: report.memory.visited().map(|bytes| bytes as f64),
        peak: job.usage.peak,
        plain: false,
    };
    Ok(Judged { measured, verdict, run })
}

/// What the verifier says it must be compiled with.
fn refused(stdout: &str, stderr: &str) -> Option<Refused> {
    for line in stdout.lines().chain(stderr.lines()) {
        if line.contains("recompile with -DNOREDUCE") {
            return Some(Refused::Reduction);
        }
        if let Some(more) = number_after(line, "recompile with -DNFAIR=") {
            return Some(Refused::Counters(more));
        }
    }
    None
}

/// The verdict on the property, and the run that shows a violation.
///
/// The verifier ends at any error, and assertions of the model are not what was asked for. An assertion
/// that SPIN put into a claim is: there the claim has the last move.
fn judge(report: &PanReport, run: Option<Run>) -> Result<(Verdict, Option<Run>), Refused> {
    if report.out_of_memory {
        return Err(Refused::Reason("pan: memory limit".to_owned()));
    }
    if report.truncated {
        return Err(Refused::Depth);
    }
    let Some(error) = report.messages.last() else {
        return if report.stopped || report.errors > 0 {
            Err(Refused::Reason("pan: search not completed".to_owned()))
        } else {
            Ok((Verdict::Holds, None))
        };
    };
    let of_property = error.text.starts_with("acceptance cycle")
        || error.text.starts_with("end state in claim reached")
        || run.is_some_and(|run| run.ends_with_claim);
    if !of_property {
        return Err(Refused::Reason(format!("pan: another error: {}", error.text)));
    }
    Ok((Verdict::Violated, run))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLDS: &str = "\
(Spin Version 6.5.2 -- 6 December 2019)
	+ Partial Order Reduction

Full statespace search for:
	never claim         	+ (no_starvation)
	assertion violations	+ (if within scope of claim)
	acceptance   cycles 	+ (fairness enabled)
	invalid end states	- (disabled by never claim)

State-vector 36 byte, depth reached 181, errors: 0
      284 states, stored (530 visited)
      582 states, matched
     1112 transitions (= visited+matched)
        0 atomic steps
";

    fn report(error: &str, more: &str) -> PanReport {
        let text = match error {
            "" => format!("{HOLDS}{more}"),
            error => {
                let stopped = "2019)\nWarning: Search not completed\n";
                let text = HOLDS.replace("errors: 0", "errors: 1").replace("2019)\n", stopped);
                format!("pan:1: {error} (at depth 80)\npan: wrote m.pml.trail\n{more}{text}")
            }
        };
        PanReport::parse(&text).expect("a summary")
    }

    const CYCLE: Option<Run> = Some(Run { steps: 42, infinite: true, ends_with_claim: false });
    const REFUTED: Option<Run> = Some(Run { steps: 3, infinite: false, ends_with_claim: true });

    #[test]
    fn verdicts_are_read() {
        assert_eq!(judge(&report("", ""), None), Ok((Verdict::Holds, None)));
        let cycle = report("acceptance cycle", "");
        assert_eq!((cycle.states, cycle.transitions), (284, 1112));
        assert_eq!(judge(&cycle, CYCLE), Ok((Verdict::Violated, CYCLE)));
        let ended = report("end state in claim reached", "");
        assert_eq!(judge(&ended, REFUTED), Ok((Verdict::Violated, REFUTED)));
    }

    #[test]
    fn an_assertion_counts_if_the_claim_has_it() {
        let assertion = report("assertion violated  !( !((x<3)))", "");
        assert_eq!(judge(&assertion, REFUTED), Ok((Verdict::Violated, REFUTED)));
        let told = "pan: another error: assertion violated  !( !((x<3)))";
        assert_eq!(judge(&assertion, CYCLE), Err(Refused::Reason(told.to_owned())));
        assert_eq!(judge(&assertion, None), Err(Refused::Reason(told.to_owned())));
    }

    #[test]
    fn limits_give_no_verdict() {
        let shallow = "error: max search depth too small\n";
        assert_eq!(judge(&report("", shallow), None), Err(Refused::Depth));
        assert_eq!(judge(&report("acceptance cycle", shallow), CYCLE), Err(Refused::Depth));
        let full = "pan: reached -DMEMLIM bound\n";
        let reason = Err(Refused::Reason("pan: memory limit".to_owned()));
        assert_eq!(judge(&report("", full), None), reason);
        let unknown = "Warning: Search not completed\n";
        assert!(judge(&report("", unknown), None).is_err());
    }

    #[test]
    fn pan_says_how_it_must_be_compiled() {
        let rendezvous = "error: p.o. reduction not compatible with fairness (-f) in models\n       \
                          with rendezvous operations: recompile with -DNOREDUCE\n";
        assert_eq!(refused("", rendezvous), Some(Refused::Reduction));
        let processes = "pan: error: too many processes -- current max is 6 procs (-DNFAIR=2)\n\
                         \trecompile with -DNFAIR=3\n";
        assert_eq!(refused(processes, ""), Some(Refused::Counters(3)));
        assert_eq!(refused(HOLDS, "warning: for p.o. reduction to be valid"), None);
    }

    #[test]
    fn references_to_locals_show_in_the_header() {
        assert!(refers_to_locals("\t#define REM_VARS\t1\n"));
        assert!(!refers_to_locals("#ifdef REM_VARS\n"));
    }

    #[test]
    fn each_build_has_a_program_of_its_own() {
        let build = |reduced, counters| Build { reduced, counters }.program();
        let names = [build(true, 2), build(false, 2), build(true, 3), build(false, 3)];
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
