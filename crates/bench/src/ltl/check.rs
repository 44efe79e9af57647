//! Our own program as a job that judges one temporal property.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::properties::Property;
use super::results::{Judged, Verdict};
use super::trail::Run;
use crate::ours::{self, Answer, Variant};
use crate::process::Limits;

/// The file that the run of an error is written to.
const TRAIL: &str = "ours.trail";
/// What is said of errors that violate the property, and not something beside it.
const OF_PROPERTY: [&str; 2] = ["acceptance-cycle", "never-claim"];

/// Checks a property of a model, a file in `dir`; the error says why there are no figures.
pub fn check(
    program: &Path,
    variant: &Variant,
    dir: &Path,
    model: &str,
    property: &Property,
    fair: bool,
    limits: Limits<'_>,
) -> Result<Judged, String> {
    let trail = dir.join(TRAIL);
    let _ = fs::remove_file(&trail);
    let mut command = Command::new(program);
    command.args(["check", "--format", "json", "--quiet", "--trail", TRAIL]);
    command.args(["--memory", &limits.memory.to_string()]);
    command.args(variant.options()).arg(format!("--ltl={}", property.asked));
    if fair {
        command.args(["--fair", "weak"]);
    }
    let job = limits.run("spinward", &[0, 1, 3], command.arg(model).current_dir(dir))?;
    let answer = ours::read(&job.stdout)?;
    let verdict = verdict(&answer)?;
    let run = fs::read_to_string(&trail).ok().and_then(|text| Run::parse(&text));
    let run = run.filter(|_| verdict == Verdict::Violated);
    Ok(Judged { measured: ours::measured(&answer, &job), verdict, run })
}

/// The verdict on the property.
fn verdict(answer: &Answer) -> Result<Verdict, String> {
    match (answer.verdict.as_str(), answer.errors.as_slice()) {
        ("verified", _) => Ok(Verdict::Holds),
        ("violated", [error, ..]) if OF_PROPERTY.contains(&error.kind.as_str()) => {
            Ok(Verdict::Violated)
        }
        ("violated", [error, ..]) => Err(format!("spinward: another error: {}", error.message)),
        (other, _) => Err(format!("spinward: the verdict is {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(verdict: &str, kind: &str) -> Answer {
        let json = format!(
            r#"{{"verdict": "{verdict}", "reasons": [],
            "errors": [{{"kind": "{kind}", "message": "does not hold"}}],
            "statistics": {{"states": 1, "transitions": 1, "bytes_per_state": 1.0}},
            "store": "exact", "por": true, "optimize": "full"}}"#
        );
        ours::read(&json).expect("an answer")
    }

    #[test]
    fn verdicts_are_read() {
        assert_eq!(verdict(&answer("verified", "")), Ok(Verdict::Holds));
        assert_eq!(verdict(&answer("violated", "acceptance-cycle")), Ok(Verdict::Violated));
        assert_eq!(verdict(&answer("violated", "never-claim")), Ok(Verdict::Violated));
        let told = Err("spinward: another error: does not hold".to_owned());
        assert_eq!(verdict(&answer("violated", "assertion")), told);
        assert!(verdict(&answer("incomplete", "")).is_err());
    }
}
