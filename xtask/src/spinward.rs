//! Runs the checker and reads the JSON it prints.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::{self, Ended};

/// Options for which no state is left out.
pub const AS_IT_STANDS: [&str; 4] = ["--optimize", "none", "--por", "off"];

/// What is said of a guide that is of no use for a model.
pub const MISFIT: &str = "does not fit";

/// The checker's program.
#[derive(Clone, Debug)]
pub struct Spinward {
    program: PathBuf,
}

/// The answer of `spinward check --format json`, as far as it is used here.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    /// `verified`, `violated`, `incomplete` or `error`.
    pub verdict: String,
    /// Whether everything asked for was checked to its end.
    #[serde(default)]
    pub complete: bool,
    /// Why the search ended before its time, or left something unchecked.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// Errors found, or examples of them when all were to be counted.
    #[serde(default)]
    pub errors: Vec<FoundError>,
    /// Figures of the search.
    pub statistics: Statistics,
}

/// Why not all is known.
#[derive(Clone, Debug, Deserialize)]
pub struct Reason {
    /// Such as `time` or `not-checked`.
    pub code: String,
}

/// One error found.
#[derive(Clone, Debug, Deserialize)]
pub struct FoundError {
    /// Such as `assertion` or `invalid-end-state`.
    pub kind: String,
    /// What is violated, such as an assertion's text.
    #[serde(default)]
    pub property: String,
    /// Where that stands, if it stands in the model.
    #[serde(default)]
    pub line: Option<u64>,
    /// Length of the way to it.
    #[serde(default)]
    pub steps: Option<u64>,
    /// After how many of them the cycle begins, if the run goes on for ever; all, if the last state is
    /// repeated.
    #[serde(default)]
    pub cycle_start: Option<u64>,
}

/// Figures of a search.
#[derive(Clone, Debug, Deserialize)]
pub struct Statistics {
    /// Distinct states.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// Occurrences of errors.
    #[serde(default)]
    pub error_count: Option<u64>,
}

impl Answer {
    /// How often an error occurred.
    pub fn error_count(&self) -> u64 {
        let examples = self.errors.len() as u64;
        self.statistics.error_count.unwrap_or(examples)
    }

    /// Whether the search came to its end, though it may not have looked for everything.
    pub fn finished(&self) -> bool {
        self.reasons.iter().all(|reason| reason.code == "not-checked")
    }
}

/// An answer, or why there is none.
pub type Checked = std::result::Result<Answer, String>;

impl Spinward {
    /// The checker at `program`, or the one of this project's release build.
    pub fn find(program: Option<PathBuf>) -> Result<Self> {
        let program =
            program.unwrap_or_else(|| crate::project_root().join("target/release/spinward"));
        match program.canonicalize() {
            Ok(program) => Ok(Self { program }),
            Err(_) => bail!(
                "there is no checker at {}: run `cargo build --release`, name it with --spinward, or use --spin-only",
                program.display()
            ),
        }
    }

    /// Runs `spinward check` on `model` in `dir` with the model as it stands: no transformation, no reduction.
    pub fn check(
        &self,
        dir: &Path,
        model: &str,
        options: &[&str],
        limit: Duration,
    ) -> Result<(Checked, String)> {
        let options = [&AS_IT_STANDS, options].concat();
        self.check_by(dir, model, &options, limit)
    }

    /// Runs `spinward check` on `model` in `dir` by these options alone.
    pub fn check_by(
        &self,
        dir: &Path,
        model: &str,
        options: &[&str],
        limit: Duration,
    ) -> Result<(Checked, String)> {
        let mut command = Command::new(&self.program);
        command
            .arg("check")
            .args(options)
            .args(["--format", "json", "--no-progress", model])
            .current_dir(dir);
        let output = process::run(&mut command, limit).context("cannot run the checker")?;
        let checked = match output.ended {
            Ended::Code(code @ (0 | 1 | 3)) => parse(code, &output.stdout),
            Ended::Code(code) => Err(format!("spinward: exit code {code}: {}", output.complaint())),
            Ended::Signal(signal) => Err(format!("spinward died by signal {signal}")),
            Ended::TimedOut => Err("spinward: timeout".to_owned()),
        };
        Ok((checked, output.stdout + &output.stderr))
    }

    /// Replays `trail` of `model` and tells how that ended: exit code 1 is an error reproduced.
    pub fn replay(
        &self,
        dir: &Path,
        model: &str,
        trail: &str,
        limit: Duration,
    ) -> Result<process::Output> {
        let mut command = Command::new(&self.program);
        command.args(["trail", model, trail, "--json"]).current_dir(dir);
        process::run(&mut command, limit).context("cannot run the checker")
    }
}

/// Reads the JSON and holds the exit code against it.
fn parse(code: i32, json: &str) -> Checked {
    let answer: Answer =
        serde_json::from_str(json).map_err(|error| format!("spinward: JSON: {error}"))?;
    let expected = match answer.verdict.as_str() {
        "verified" => 0,
        "violated" => 1,
        "incomplete" => 3,
        other => return Err(format!("spinward: verdict {other}")),
    };
    if code != expected {
        return Err(format!("spinward: {} with exit code {code}", answer.verdict));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": 1, "verdict": "violated", "errors": [{"kind": "assertion", "steps": 9}],
        "statistics": {"states": 123, "transitions": 456, "error_count": 7, "depth": 41}}"#;

    #[test]
    fn reads_an_answer() {
        let answer = parse(1, JSON).expect("an answer");
        assert_eq!(answer.statistics.states, 123);
        assert_eq!(answer.error_count(), 7);
        assert_eq!(answer.errors[0].steps, Some(9));
    }

    #[test]
    fn exit_code_and_verdict_must_agree() {
        assert!(parse(0, JSON).is_err());
        assert!(parse(1, "{}").is_err());
    }
}
