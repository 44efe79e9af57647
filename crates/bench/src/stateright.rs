//! Stateright as a job: models written in Rust, with twins in Promela.
//!
//! A folder has a package whose program takes the name of a model and prints what it found as JSON,
//! and beside it a Promela file for each of its models. The two must have the same states.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::measure::Measured;
use crate::process::Limits;

/// The name of the package and of its program.
const PROGRAM: &str = "stateright-models";

/// The models, ready to run.
#[derive(Debug)]
pub struct Stateright {
    program: PathBuf,
    twins: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    states: u64,
}

impl Stateright {
    /// Builds the program of a folder with cargo; the error is for people.
    pub fn build(folder: &Path) -> Result<Self, String> {
        let problem = |problem: std::io::Error| format!("{}: {problem}", folder.display());
        let folder = folder.canonicalize().map_err(problem)?;
        let entries = folder.read_dir().map_err(problem)?;
        let mut twins: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
            .collect();
        twins.sort();
        let target = folder.join("target");
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--quiet", "--locked", "--manifest-path"]);
        cargo.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
        let output = cargo.output().map_err(|problem| format!("cannot run cargo: {problem}"))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cargo cannot build it: {}", words.trim()));
        }
        Ok(Self { program: target.join("release").join(PROGRAM), twins })
    }

    /// The Promela twins.
    pub(crate) fn models(&self) -> &[PathBuf] {
        &self.twins
    }

    /// Checks the model that is a twin of this file; the error says why there are no figures.
    pub(crate) fn check(&self, twin: &str, limits: Limits<'_>) -> Result<Measured, String> {
        let name = twin.strip_suffix(".pml").unwrap_or(twin);
        let job = limits.run("stateright", &[0], Command::new(&self.program).arg(name))?;
        let answer: Answer = serde_json::from_str(&job.stdout)
            .map_err(|problem| format!("stateright: JSON: {problem}"))?;
        Ok(Measured {
            // What is compiled there is a program, not a model.
            seconds: None,
            cpu: job.usage.cpu.as_secs_f64(),
            states: answer.states,
            // It counts other things.
            transitions: None,
            bytes: None,
            peak: job.usage.peak,
            plain: true,
        })
    }
}
