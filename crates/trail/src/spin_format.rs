//! SPIN's trail files.
//!
//! A trail is a list of lines `depth:process:statement`. Negative depths are headers: `-2` names
//! the never claim (processes are then counted from 1, and 0 is the claim), `-4` says that the
//! model's statements were merged (one line then stands for a chain of statements), `-1` marks the
//! start of the cycle. Statements are SPIN's numbers of elements, so a trail means something only
//! together with the model it was made from.

use std::fmt::Write as _;

use spinward_machine::Step;
use spinward_program::Program;
use spinward_program::ir::{BodyId, ElementId};

/// The numbers of the statements of SPIN's own claim for non-progress cycles.
const NON_PROGRESS: std::ops::RangeInclusive<u32> = 9997..=9999;

/// A trail as it stands in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// The proctype number of the claim, if one was active.
    pub claim: Option<BodyId>,
    /// Whether one line may stand for a chain of merged statements.
    pub merged: bool,
    /// The steps.
    pub lines: Vec<Line>,
    /// How many of the lines come before the cycle.
    pub cycle_start: Option<usize>,
}

/// One step of a trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its line in the file, from 1.
    pub number: usize,
    /// Who moves, as [`Step::process`].
    pub process: u16,
    /// The statement.
    pub element: ElementId,
}

impl Line {
    /// Whether the never claim moves.
    pub fn is_claim(self) -> bool {
        self.process == Step::CLAIM
    }

    /// Whether it is a move of SPIN's own claim for non-progress cycles.
    pub fn is_non_progress_claim(self) -> bool {
        self.is_claim() && NON_PROGRESS.contains(&self.element.0)
    }
}

/// A line that is not one of a trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for FormatError {}

impl Trail {
    /// Reads a trail. Blank lines and spaces do not matter, nor do the depths, which SPIN itself
    /// leaves gaps in.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let mut trail = Self::default();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let error = |message: String| FormatError { line: number, message };
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let [depth, process, statement] = fields(line).ok_or_else(|| {
                error(format!(
                    "expected `depth:process:statement`, three numbers, found `{}`",
                    shortened(line)
                ))
            })?;
            match depth {
                -1 if trail.cycle_start.is_some() => {
                    return Err(error("the start of the cycle is marked twice".into()));
                }
                -1 => trail.cycle_start = Some(trail.lines.len()),
                -2 | -4 if !trail.lines.is_empty() => {
                    return Err(error(format!("the header `{line}` comes after a step")));
                }
                -2 => {
                    let body = u32::try_from(process)
                        .map_err(|_| error(format!("{process} is not the number of a claim")))?;
                    trail.claim = Some(BodyId(body));
                }
                -4 => trail.merged = true,
                -8..=-5 => {
                    return Err(error(
                        "the trail was made with a permuted search (-DPERMUTED), \
                         which only pan itself can replay"
                            .into(),
                    ));
                }
                1.. => {
                    let process = mover(process, trail.claim.is_some()).ok_or_else(|| {
                        error(format!("{process} is not the number of a process"))
                    })?;
                    let element = u32::try_from(statement).map_err(|_| {
                        error(format!("{statement} is not the number of a statement"))
                    })?;
                    trail.lines.push(Line { number, process, element: ElementId(element) });
                }
                _ => {
                    return Err(error(format!(
                        "a step has a depth of 1 or more, and no header starts with {depth}"
                    )));
                }
            }
        }
        Ok(trail)
    }

    /// The trail of a run. The cycle, if there is one, starts after `cycle_start` of the steps.
    pub fn of_run(
        program: &Program,
        claim: Option<BodyId>,
        steps: &[Step],
        cycle_start: Option<usize>,
    ) -> Self {
        let lines = steps
            .iter()
            .enumerate()
            .map(|(index, step)| Line {
                number: index + 1,
                process: step.process,
                element: program.transition(step.transition).element,
            })
            .collect();
        Self { claim, merged: false, lines, cycle_start }
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(12 * self.lines.len() + 32);
        let mut header = |line: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{line}");
        };
        if let Some(claim) = self.claim {
            header(format_args!("-2:{}:-2", claim.0));
        }
        if self.merged {
            header(format_args!("-4:-4:-4"));
        }
        for (index, line) in self.lines.iter().enumerate() {
            if self.cycle_start == Some(index) {
                header(format_args!("-1:-1:-1"));
            }
            let process = match self.claim {
                Some(_) if line.is_claim() => 0,
                Some(_) => u32::from(line.process) + 1,
                None => u32::from(line.process),
            };
            header(format_args!("{}:{process}:{}", index + 1, line.element.0));
        }
        if self.cycle_start == Some(self.lines.len()) {
            header(format_args!("-1:-1:-1"));
        }
        text
    }
}

/// The numbers of a line. Some versions of SPIN write a fourth one, which tells nothing new.
fn fields(line: &str) -> Option<[i64; 3]> {
    let mut numbers = line.split(':').map(|field| field.trim().parse::<i64>());
    let fields = [numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?];
    match (numbers.next(), numbers.next()) {
        (None | Some(Ok(_)), None) => Some(fields),
        _ => None,
    }
}

/// Who moves, from the number in the file.
fn mover(process: i64, claim: bool) -> Option<u16> {
    let process = u16::try_from(process).ok()?;
    match (claim, process) {
        (true, 0) => Some(Step::CLAIM),
        (true, _) => Some(process - 1),
        (false, Step::CLAIM) => None,
        (false, _) => Some(process),
    }
}

/// The start of a line that may be very long (a file that is no trail at all).
fn shortened(line: &str) -> String {
    const LIMIT: usize = 40;
    if line.chars().count() <= LIMIT {
        line.escape_debug().to_string()
    } else {
        let start: String = line.chars().take(LIMIT).collect();
        format!("{}...", start.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Trail::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn reads_what_it_writes() {
        for text in [
            "1:0:7\n2:2:1\n",
            "-2:3:-2\n-4:-4:-4\n1:0:12\n2:1:0\n-1:-1:-1\n3:0:12\n4:2:5\n",
            "-4:-4:-4\n-1:-1:-1\n1:0:1\n",
        ] {
            assert_eq!(Trail::parse(text).unwrap().to_text(), text);
        }
    }

    #[test]
    fn processes_are_counted_from_one_beside_a_claim() {
        let trail = Trail::parse("-2:3:-2\n1:0:12\n2:1:0\n").unwrap();
        assert_eq!(trail.claim, Some(BodyId(3)));
        assert!(trail.lines[0].is_claim());
        assert_eq!(trail.lines[1].process, 0);
    }

    #[test]
    fn the_cycle_may_start_at_once() {
        let trail = Trail::parse("-2:1:-2\n-4:-4:-4\n-1:-1:-1\n1:0:3\n").unwrap();
        assert_eq!(trail.cycle_start, Some(0));
    }

    #[test]
    fn a_trail_may_have_no_steps() {
        assert_eq!(Trail::parse(""), Ok(Trail::default()));
        let trail = Trail::parse("-4:-4:-4\n").unwrap();
        assert!(trail.lines.is_empty() && trail.merged);
    }

    #[test]
    fn spaces_blank_lines_and_gaps_in_the_depth_are_fine() {
        let trail = Trail::parse("\r\n 1: 0 :7 \r\n\n4:1:2\r\n").unwrap();
        assert_eq!(trail.lines.len(), 2);
        assert_eq!(trail.lines[1].number, 4);
    }

    #[test]
    fn knows_the_claim_of_spin_for_non_progress() {
        let trail = Trail::parse("-2:2:-2\n1:0:9998\n2:1:9998\n").unwrap();
        assert!(trail.lines[0].is_non_progress_claim());
        assert!(!trail.lines[1].is_non_progress_claim());
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        assert_eq!(
            error("1:0:7\nbyte x;\n"),
            "line 2: expected `depth:process:statement`, three numbers, found `byte x;`"
        );
        assert!(error("1:0:7\n2:0\n").starts_with("line 2: expected"));
        assert!(error("1:0:7:8:9\n").starts_with("line 1: expected"));
        assert!(error("1:0:99999999999999999999\n").starts_with("line 1: expected"));
        assert!(error("1:0:-7\n").contains("-7 is not the number of a statement"));
        assert!(error("1:-3:7\n").contains("-3 is not the number of a process"));
        assert!(error("1:65535:7\n").contains("65535 is not the number of a process"));
        assert!(error("0:0:7\n").contains("depth of 1 or more"));
        assert!(error("-5:1:1\n").contains("permuted"));
        assert!(error("1:0:7\n-4:-4:-4\n").contains("after a step"));
        assert!(error("-1:-1:-1\n1:0:7\n-1:-1:-1\n").contains("twice"));
    }
}
