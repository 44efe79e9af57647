//! SPIN's verdicts on infinite runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::spin::{self, Compiler, Generated, Refusal, Verifier};

/// The time for a search.
const LIMIT: Duration = Duration::from_secs(10);

/// What SPIN's verifier may find; anything else is the generator's fault.
const EXPECTED: [&str; 5] = [
    "acceptance cycle",
    "accept stutter",
    "non-progress cycle",
    "assertion violated",
    "end state in claim reached",
];

/// SPIN's verifiers of a model.
pub struct Pan {
    dir: PathBuf,
    model: String,
    generated: Generated,
    /// For acceptance, and for progress, as soon as it is needed.
    verifiers: [Option<Verifier>; 2],
}

/// What SPIN said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// There is an error.
    pub violated: bool,
    /// States stored.
    pub states: u64,
    /// Steps of processes in the trail of the error.
    pub steps: u64,
}

impl Pan {
    /// Lets SPIN generate the verifier of `model`, a file in `dir`.
    pub fn new(dir: &Path, model: &str) -> Result<std::result::Result<Self, Refusal>> {
        Ok(spin::generate(dir, model)?.map(|generated| Self {
            dir: dir.to_owned(),
            model: model.to_owned(),
            generated,
            verifiers: [None, None],
        }))
    }

    /// Whether the model has a rendezvous channel.
    pub fn rendezvous(&self) -> bool {
        self.generated.rendezvous
    }

    /// Asks SPIN with these options, among them `-l` for progress.
    pub fn ask(&mut self, options: &[&str]) -> Result<std::result::Result<Said, Refusal>> {
        let progress = options.contains(&"-l");
        let slot = &mut self.verifiers[usize::from(progress)];
        if slot.is_none() {
            let defines = if progress { &["-DNOREDUCE", "-DNP"][..] } else { &["-DNOREDUCE"] };
            let name = if progress { "pan-progress" } else { "pan" };
            match self.generated.compile(Compiler::GccQuick, defines, name)? {
                Ok(verifier) => *slot = Some(verifier),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        let Some(verifier) = slot else { return Ok(Err(Refusal("no verifier".to_owned()))) };
        let trail = self.dir.join(format!("{}.trail", self.model));
        if trail.exists() {
            fs::remove_file(&trail).context("cannot remove a trail")?;
        }
        let run = verifier.run(&[options, &["-E", "-m100000", "-w16", "-n"]].concat(), LIMIT)?;
        let Some(report) = run.report.as_ref().filter(|report| !report.truncated) else {
            let trouble = run.trouble().unwrap_or_else(|| "pan says nothing".to_owned());
            return Ok(Err(Refusal(format!(
                "{trouble}: {}",
                run.text.lines().last().unwrap_or_default()
            ))));
        };
        let unexpected = report
            .messages
            .iter()
            .find(|it| !EXPECTED.iter().any(|text| it.text.starts_with(text)));
        if let Some(message) = unexpected {
            return Ok(Err(Refusal(format!("pan: {}", message.text))));
        }
        let violated = report.errors > 0;
        if let Some(trouble) = run.trouble().filter(|_| !violated) {
            return Ok(Err(Refusal(trouble)));
        }
        let steps = match violated {
            true => steps(&fs::read_to_string(&trail).context("SPIN wrote no trail")?),
            false => 0,
        };
        Ok(Ok(Said { violated, states: report.states, steps }))
    }
}

/// The steps of processes in a trail: where there is a claim, it has number 0, and also repeats the last state.
fn steps(trail: &str) -> u64 {
    let has_claim = trail.lines().any(|line| line.starts_with("-2:"));
    let is_step = |line: &&str| {
        let mut numbers = line.split(':');
        let is_header = numbers.next().is_some_and(|step| step.starts_with('-'));
        let is_claim = has_claim && numbers.next() == Some("0");
        !is_header && !is_claim
    };
    trail.lines().filter(|line| line.contains(':')).filter(is_step).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_makes_no_steps() {
        let trail = "-2:2:-2\n-4:-4:-4\n1:0:4\n2:1:0\n3:0:11\n4:2:2\n-1:-1:-1\n5:0:4\n";
        assert_eq!(steps(trail), 2);
        assert_eq!(steps(trail.split_once('\n').expect("lines").1), 5);
    }
}
