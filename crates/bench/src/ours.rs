//! Our own program as a job: the model to a verdict.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::measure::Measured;
use crate::process::{Finished, Limits};

/// What every check is told: the plain meaning of the model, all of it, safety alone.
const PLAIN: [&str; 8] =
    ["check", "--optimize", "none", "--por", "off", "--safety", "--errors", "0"];

/// What a check is told that ends with the first error.
const FIRST_ERROR: [&str; 2] = ["check", "--safety"];

/// Our program with options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The options, as they are told to the user.
    pub label: String,
    options: Vec<String>,
}

impl Variant {
    /// With these options, apart by blanks.
    pub fn new(options: &str) -> Self {
        let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        let label = if options.is_empty() { "(no options)".into() } else { options.join(" ") };
        Self { label, options }
    }

    /// The options, one by one.
    pub fn options(&self) -> &[String] {
        &self.options
    }
}

/// The answer of `check --format json`, as far as it is used here.
#[derive(Debug, Deserialize)]
pub struct Answer {
    /// In a word.
    pub verdict: String,
    reasons: Vec<Reason>,
    /// What is wrong with the model.
    #[serde(default)]
    pub errors: Vec<FoundError>,
    statistics: Statistics,
    store: String,
    por: bool,
    optimize: String,
}

/// Something that is wrong with the model.
#[derive(Debug, Deserialize)]
pub struct FoundError {
    /// Such as `acceptance-cycle`.
    pub kind: String,
    /// For people.
    pub message: String,
    #[serde(default)]
    steps: u64,
    #[serde(default)]
    shortest: bool,
}

#[derive(Debug, Deserialize)]
struct Reason {
    code: String,
    message: String,
}

#[derive(Debug, Deserialize)]
struct Statistics {
    states: u64,
    transitions: u64,
    bytes_per_state: f64,
    #[serde(default)]
    peak_memory: u64,
    #[serde(default)]
    disk_bytes: u64,
    #[serde(default)]
    seconds: Seconds,
}

#[derive(Debug, Default, Deserialize)]
struct Seconds {
    decided: f64,
    total: f64,
}

/// A check that came to an answer.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Its figures.
    pub measured: Measured,
    /// In a word.
    pub verdict: String,
    /// CPU seconds until the verdict was certain.
    pub decided: f64,
    /// The steps of the run to the nearest error.
    pub steps: Option<u64>,
    /// The same, if it is sure that none is shorter.
    pub shortest: Option<u64>,
    /// The most bytes in memory, as it tells.
    pub peak_memory: u64,
    /// The most bytes on disk.
    pub disk_bytes: u64,
}

/// Checks a model, a file in `dir`; the error says why there are no figures.
pub fn check(
    program: &Path,
    variant: &Variant,
    dir: &Path,
    model: &str,
    limits: Limits<'_>,
) -> Result<Checked, String> {
    ask(program, &PLAIN, variant, dir, model, limits)
}

/// The same, with all that our program leaves out if nothing else is said, and until the first error.
pub fn first_error(
    program: &Path,
    variant: &Variant,
    dir: &Path,
    model: &str,
    limits: Limits<'_>,
) -> Result<Checked, String> {
    ask(program, &FIRST_ERROR, variant, dir, model, limits)
}

fn ask(
    program: &Path,
    what: &[&str],
    variant: &Variant,
    dir: &Path,
    model: &str,
    limits: Limits<'_>,
) -> Result<Checked, String> {
    let mut command = Command::new(program);
    command.args(what).args(["--format", "json", "--quiet", "--trail", "ours.trail"]);
    command.args(["--memory", &limits.memory.to_string()]);
    command.args(&variant.options).arg(model).current_dir(dir);
    let job = limits.run("spinward", &[0, 1, 3], &mut command)?;
    let answer = read(&job.stdout)?;
    let nearest = answer.errors.iter().min_by_key(|error| error.steps);
    // What came afterwards took as much of a processor for a second as all else.
    let Seconds { decided, total } = answer.statistics.seconds;
    let elapsed = job.elapsed.as_secs_f64();
    let share = 1.0 - ((total - decided) / elapsed).clamp(0.0, 1.0);
    Ok(Checked {
        measured: measured(&answer, &job),
        decided: job.usage.cpu.as_secs_f64() * share,
        steps: nearest.map(|error| error.steps),
        shortest: nearest.filter(|error| error.shortest).map(|error| error.steps),
        peak_memory: answer.statistics.peak_memory,
        disk_bytes: answer.statistics.disk_bytes,
        verdict: answer.verdict,
    })
}

/// What was measured of a check that gave this answer.
pub fn measured(answer: &Answer, job: &Finished) -> Measured {
    let statistics = &answer.statistics;
    let exact = answer.store == "exact" || answer.store == "tree";
    Measured {
        seconds: Some(job.elapsed.as_secs_f64()),
        cpu: job.usage.cpu.as_secs_f64(),
        states: statistics.states,
        transitions: Some(statistics.transitions),
        bytes: Some(statistics.bytes_per_state * statistics.states as f64),
        peak: job.usage.peak,
        plain: exact && !answer.por && answer.optimize == "none",
    }
}

/// The answer, if no limit ended the search.
pub fn read(json: &str) -> Result<Answer, String> {
    const LIMITS: [&str; 8] =
        ["max-depth", "max-states", "time", "memory", "interrupt", "numbers", "disk", "error"];
    let answer: Answer =
        serde_json::from_str(json).map_err(|problem| format!("spinward: JSON: {problem}"))?;
    match answer.reasons.iter().find(|reason| LIMITS.contains(&reason.code.as_str())) {
        Some(reason) => Err(format!("spinward: {}", reason.message)),
        None => Ok(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{
        "verdict": "violated", "complete": true, "reasons": [],
        "statistics": {"states": 123, "transitions": 456, "bytes_per_state": 21.5, "depth": 41},
        "store": "exact", "por": false, "optimize": "none"
    }"#;

    #[test]
    fn reads_an_answer() {
        let answer = read(JSON).expect("an answer");
        assert_eq!((answer.statistics.states, answer.statistics.transitions), (123, 456));
    }

    #[test]
    fn a_search_that_hit_a_limit_has_no_figures() {
        let reason = r#""reasons": [{"code": "memory", "message": "no room"}]"#;
        let json = JSON.replace(r#""reasons": []"#, reason);
        assert_eq!(read(&json).map(|_| ()), Err("spinward: no room".to_owned()));
        assert!(read("{}").is_err());
    }

    #[test]
    fn a_variant_is_called_by_its_options() {
        let variant = Variant::new("  --search bfs  --store tree ");
        assert_eq!(variant.label, "--search bfs --store tree");
        assert_eq!(variant.options.len(), 4);
        assert_eq!(Variant::new("").label, "(no options)");
    }
}
