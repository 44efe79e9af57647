//! Holds trails against each other: SPIN replays ours, we replay SPIN's, and lengths agree.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::Ended;
use crate::spin::{self, Compiler, Generated, Refusal, Replay};
use crate::spinward::{FoundError, Spinward};

/// A model with an error, and what is needed to look at its trails.
pub struct Trails<'a> {
    /// Our checker.
    pub spinward: &'a Spinward,
    /// The folder of the model and of all files made on the way.
    pub dir: &'a Path,
    /// The model's file name in `dir`.
    pub model: &'a str,
    /// SPIN's verifier in C.
    pub generated: &'a Generated,
    /// What compiles that.
    pub compiler: Compiler,
    /// The time for each run.
    pub limit: Duration,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is wrong.
    pub differences: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

impl Trails<'_> {
    /// Does all the checks.
    pub fn check(&self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let dfs = self.ours("dfs", &mut outcome)?;
        let bfs = self.ours("bfs", &mut outcome)?;
        self.theirs(&mut outcome)?;
        let (Some(dfs), Some(bfs)) = (dfs, bfs) else {
            return Ok(outcome);
        };
        if let (Some(deep), Some(short)) = (dfs.steps, bfs.steps) {
            outcome.notes.push(format!("steps dfs {deep}, bfs {short}"));
            if short > deep {
                outcome.differences.push("bfs trail longer than the dfs one".to_owned());
            }
        }
        if !self.generated.rendezvous {
            self.shortest(&bfs, &mut outcome)?;
        }
        Ok(outcome)
    }

    /// Stops at our first error in the given search order and lets SPIN replay the trail.
    fn ours(&self, order: &str, outcome: &mut Outcome) -> Result<Option<FoundError>> {
        let trail = format!("ours-{order}.trail");
        let options = ["--safety", "--search", order, "--trail", trail.as_str()];
        let (checked, _) = self.spinward.check(self.dir, self.model, &options, self.limit)?;
        let error = match checked {
            Ok(answer) => answer.errors.into_iter().next(),
            Err(why) => {
                outcome.differences.push(format!("{order}: {why}"));
                return Ok(None);
            }
        };
        let Some(error) = error else {
            outcome.differences.push(format!("{order}: no first error"));
            return Ok(None);
        };
        let Ok(text) = fs::read_to_string(self.dir.join(&trail)) else {
            outcome.differences.push(format!("{order}: no trail written"));
            return Ok(Some(error));
        };
        if error.steps.is_some_and(|steps| steps != spin::trail_steps(&text)) {
            let lines = spin::trail_steps(&text);
            outcome
                .differences
                .push(format!("{order}: {:?} steps but {lines} in the trail", error.steps));
        }
        let (replay, _) = Replay::run(self.dir, self.model, &trail)?;
        if let Some(wrong) = judge(&error.kind, &replay, self.generated.trace) {
            outcome.differences.push(format!("{order}: spin -t: {wrong}"));
        }
        Ok(Some(error))
    }

    /// Lets us replay the trail of SPIN's first error.
    fn theirs(&self, outcome: &mut Outcome) -> Result<()> {
        let Some(trail) = self.first_trail(&[], "pan-first", outcome)? else {
            return Ok(());
        };
        let output = self.spinward.replay(self.dir, self.model, &trail.name, self.limit)?;
        match output.ended {
            Ended::Code(1) => {}
            Ended::Code(0) => outcome
                .differences
                .push(format!("SPIN's trail replays without its error ({})", trail.error)),
            Ended::TimedOut => {
                outcome.differences.push("replay of SPIN's trail: timeout".to_owned())
            }
            _ => outcome
                .differences
                .push(format!("SPIN's trail does not replay: {}", output.last_words())),
        }
        Ok(())
    }

    /// Compares the length of our shortest trail with that of SPIN's breadth-first search.
    fn shortest(&self, ours: &FoundError, outcome: &mut Outcome) -> Result<()> {
        let Some(steps) = ours.steps else {
            return Ok(());
        };
        let Some(trail) = self.first_trail(&["-DBFS"], "pan-bfs", outcome)? else {
            return Ok(());
        };
        // SPIN's breadth-first search adds a step that was only tried to the trail of a deadlock.
        let deadlock = trail.error.starts_with("invalid end state");
        let shortest = trail.steps.saturating_sub(u64::from(deadlock));
        let same_kind = deadlock == (ours.kind == "invalid-end-state");
        // Errors of two kinds may be a level apart and be found in either order.
        let slack = u64::from(!same_kind);
        if steps > shortest + slack {
            outcome.differences.push(format!("bfs: {steps} steps, SPIN's bfs {shortest}"));
        } else if steps < shortest {
            outcome.notes.push(format!("SPIN's bfs: {shortest} steps"));
        }
        Ok(())
    }

    /// Compiles and runs SPIN's verifier up to its first error, and keeps the trail it writes.
    fn first_trail(
        &self,
        defines: &[&'static str],
        name: &str,
        outcome: &mut Outcome,
    ) -> Result<Option<Trail>> {
        let defines = self.generated.raw_defines(defines);
        let verifier = match self.generated.compile(self.compiler, &defines, name)? {
            Ok(verifier) => verifier,
            Err(Refusal(why)) => {
                outcome.notes.push(format!("no {name}: {why}"));
                return Ok(None);
            }
        };
        let written = self.dir.join(format!("{}.trail", self.model));
        if written.exists() {
            fs::remove_file(&written).context("cannot remove a trail")?;
        }
        let run = verifier.run(&["-c1", "-m2000000", "-w22", "-n"], self.limit)?;
        let error = run.report.and_then(|report| report.messages.into_iter().next());
        let (Some(error), Ok(text)) = (error, fs::read_to_string(&written)) else {
            outcome.notes.push(format!("{name} wrote no trail"));
            return Ok(None);
        };
        let kept = format!("{name}.trail");
        fs::write(self.dir.join(&kept), &text).context("cannot keep a trail")?;
        Ok(Some(Trail { name: kept, steps: spin::trail_steps(&text), error: error.text }))
    }
}

/// A trail SPIN wrote.
struct Trail {
    name: String,
    steps: u64,
    error: String,
}

/// What is wrong with SPIN's replay of our trail to an error of this kind, if anything is.
///
/// In a model with a trace assertion all processes may be at valid end states while the trace is not.
fn judge(kind: &str, replay: &Replay, trace: bool) -> Option<String> {
    if let Some(failure) = &replay.failed {
        return Some(failure.clone());
    }
    if replay.steps.is_none() {
        return Some("the replay does not reach the end of the trail".to_owned());
    }
    match kind {
        "assertion" | "invariant" if !replay.assertion => Some("no assertion fails".to_owned()),
        "invalid-end-state" if replay.unfinished == 0 && !trace => {
            Some("every process is at a valid end state".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay() -> Replay {
        Replay { assertion: false, failed: None, steps: Some(3), processes: 2, unfinished: 1 }
    }

    #[test]
    fn a_deadlock_needs_an_unfinished_process() {
        assert_eq!(judge("invalid-end-state", &replay(), false), None);
        let finished = Replay { unfinished: 0, ..replay() };
        assert!(judge("invalid-end-state", &finished, false).is_some());
    }

    #[test]
    fn an_assertion_must_fail_in_the_replay() {
        assert!(judge("assertion", &replay(), false).is_some());
        let failing = Replay { assertion: true, ..replay() };
        assert_eq!(judge("assertion", &failing, false), None);
    }

    #[test]
    fn every_step_must_be_possible() {
        let failed =
            Replay { assertion: true, failed: Some("transition failed".to_owned()), ..replay() };
        assert!(judge("assertion", &failed, false).is_some());
    }
}
