//! How long the run is that a trail file holds.
//!
//! A line is `depth:process:statement`. A header `-2` says that there is a never claim, which then is
//! process 0 and moves before each of the others; other negative depths are headers too, and `-1` marks
//! where the cycle begins. Only moves of processes are steps of the run: SPIN's claim is our automaton,
//! which has no lines. SPIN merges statements by default, and then one line is all of them; our trails
//! have a line for each. So SPIN's run is replayed, statement by statement, to be counted as ours is.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::process::Limits;

/// A run, as far as its length goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Moves of processes, those of the cycle among them.
    pub steps: u64,
    /// Whether it goes on for ever: its last steps are a cycle.
    pub infinite: bool,
    /// Whether the last line is a move of the claim.
    pub ends_with_claim: bool,
}

impl Run {
    /// Reads a trail file; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut run = Self::default();
        let mut has_claim = false;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut numbers = line.trim().split(':').map(str::parse::<i64>);
            let (depth, process) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
            if depth < 0 {
                has_claim |= depth == -2;
                run.infinite |= depth == -1;
                continue;
            }
            run.ends_with_claim = has_claim && process == 0;
            run.steps += u64::from(!run.ends_with_claim);
        }
        Some(run)
    }
}

/// What a replay says of a run.
#[derive(Debug, Deserialize)]
struct Replayed {
    length: u64,
}

/// How many statements the run in a trail of SPIN's has; the error says why it cannot be replayed.
pub fn statements(
    program: &Path,
    dir: &Path,
    model: &str,
    limits: Limits<'_>,
) -> Result<u64, String> {
    let mut command = Command::new(program);
    command.args(["trail", "--json", "--quiet", model]).arg(format!("{model}.trail"));
    let job = limits.run("spinward trail", &[0, 1], command.current_dir(dir))?;
    let replayed: Replayed = serde_json::from_str(&job.stdout)
        .map_err(|problem| format!("spinward trail: {problem}"))?;
    Ok(replayed.length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_of_the_claim_are_no_steps() {
        let cycle = "-2:1:-2\n-4:-4:-4\n1:0:25\n2:2:0\n3:0:25\n4:1:0\n-1:-1:-1\n5:0:30\n6:1:9\n";
        assert_eq!(
            Run::parse(cycle),
            Some(Run { steps: 3, infinite: true, ends_with_claim: false })
        );
        let refuted = "-2:3:-2\n-4:-4:-4\n1:0:20\n2:1:0\n3:0:17\n";
        assert_eq!(
            Run::parse(refuted),
            Some(Run { steps: 1, infinite: false, ends_with_claim: true })
        );
    }

    #[test]
    fn without_a_claim_the_first_process_moves() {
        let ours = "1:0:0\n2:1:0\n-1:-1:-1\n3:0:1\n";
        assert_eq!(
            Run::parse(ours),
            Some(Run { steps: 3, infinite: true, ends_with_claim: false })
        );
        assert_eq!(Run::parse(""), Some(Run::default()));
    }

    #[test]
    fn other_text_is_no_trail() {
        assert_eq!(Run::parse("no trail"), None);
    }
}
