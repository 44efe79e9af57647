//! What came out of a run on temporal properties: SPIN and we beside each other, property by property.

use std::fmt;

use super::trail::Run;
use crate::measure::Measured;
use crate::results::Skipped;
use crate::stats::{geometric_mean, median};

/// CPU seconds that SPIN needs for a property to count in the mean of the ratios: below, both programs
/// hardly do more than start.
pub const SLOW: f64 = 0.2;

/// What is said of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is true of all runs.
    Holds,
    /// A run shows that it is not.
    Violated,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
        })
    }
}

/// One search that came to a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// What it took.
    pub measured: Measured,
    /// The verdict.
    pub verdict: Verdict,
    /// The run that shows a violation, if there is one and it was written.
    pub run: Option<Run>,
}

/// All that came out of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LtlResults {
    /// Comparisons that could be made.
    pub rows: Vec<LtlRow>,
    /// Jobs that gave no figures.
    pub skipped: Vec<Skipped>,
    /// How many models state no temporal property.
    pub without: usize,
    /// Whether the user stopped the run.
    pub interrupted: bool,
}

/// SPIN and we on one property; in pairs of figures, SPIN's is the first.
#[derive(Clone, Debug, PartialEq)]
pub struct LtlRow {
    /// The model.
    pub model: String,
    /// The property, by SPIN's name of it.
    pub property: String,
    /// Whether only weakly fair runs count.
    pub fair: bool,
    /// Our options.
    pub ours: String,
    /// Whether SPIN could use partial-order reduction.
    pub reduced: bool,
    /// Verdicts.
    pub verdicts: [Verdict; 2],
    /// States.
    pub states: [u64; 2],
    /// CPU seconds, medians over the rounds.
    pub cpu: [f64; 2],
    /// Steps of the runs that show a violation.
    pub steps: [Option<u64>; 2],
    /// Whether SPIN shows an infinite run: a lasso.
    pub infinite: bool,
}

impl LtlRow {
    /// Compares the rounds of both; `None` if one of them has none.
    pub(super) fn new(
        model: &str,
        property: &str,
        fair: bool,
        ours: &str,
        (theirs, mine): (&[Judged], &[Judged]),
    ) -> Option<Self> {
        let (first, second) = (theirs.first()?, mine.first()?);
        let cpu = |rounds: &[Judged]| {
            median(&rounds.iter().map(|round| round.measured.cpu).collect::<Vec<_>>())
        };
        Some(Self {
            model: model.to_owned(),
            property: property.to_owned(),
            fair,
            ours: ours.to_owned(),
            reduced: true,
            verdicts: [first.verdict, second.verdict],
            states: [first.measured.states, second.measured.states],
            cpu: [cpu(theirs)?, cpu(mine)?],
            steps: [first.run, second.run].map(|run| run.map(|run| run.steps)),
            infinite: first.run.is_some_and(|run| run.infinite),
        })
    }

    /// How many times less CPU time than SPIN we need.
    pub fn ratio(&self) -> Option<f64> {
        let [theirs, ours] = self.cpu;
        (theirs > 0.0 && ours > 0.0).then(|| theirs / ours)
    }

    /// How many times shorter than SPIN's our run is; one without a step is as one with a single.
    pub fn steps_ratio(&self) -> Option<f64> {
        let [theirs, ours] = self.steps;
        Some(theirs?.max(1) as f64 / ours?.max(1) as f64)
    }

    /// Whether SPIN needs long enough for the ratio to count.
    pub fn is_slow(&self) -> bool {
        self.cpu[0] > SLOW
    }

    /// What should be equal and is not: a defect.
    pub fn difference(&self) -> Option<String> {
        let [theirs, ours] = self.verdicts;
        (theirs != ours).then(|| format!("{theirs}, and ours {ours}"))
    }
}

/// What is said of several properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LtlSummary {
    /// How many of them count for the ratio of CPU time.
    pub slow: usize,
    /// The geometric mean of these ratios.
    pub ratio: Option<f64>,
    /// How many of them both show a run for.
    pub runs: usize,
    /// The geometric mean of the ratios of their lengths.
    pub steps_ratio: Option<f64>,
    /// The same of the infinite ones alone: of lassos.
    pub lasso_ratio: Option<f64>,
    /// How many of these runs are longer than SPIN's.
    pub longer: usize,
}

impl LtlSummary {
    /// Of these rows.
    pub fn of(rows: &[&LtlRow]) -> Self {
        let slow: Vec<f64> =
            rows.iter().filter(|row| row.is_slow()).filter_map(|row| row.ratio()).collect();
        let steps = |row: &&LtlRow| row.steps_ratio();
        let runs: Vec<f64> = rows.iter().filter_map(steps).collect();
        let lassos: Vec<f64> = rows.iter().filter(|row| row.infinite).filter_map(steps).collect();
        let is_longer =
            |row: &&&LtlRow| matches!(row.steps, [Some(theirs), Some(ours)] if ours > theirs);
        Self {
            slow: slow.len(),
            ratio: geometric_mean(&slow),
            runs: runs.len(),
            steps_ratio: geometric_mean(&runs),
            lasso_ratio: geometric_mean(&lassos),
            longer: rows.iter().filter(is_longer).count(),
        }
    }
}

impl LtlResults {
    /// The rows of each of our variants, those for all runs first.
    pub fn groups(&self) -> Vec<Vec<&LtlRow>> {
        let mut groups: Vec<Vec<&LtlRow>> = Vec::new();
        for fair in [false, true] {
            for row in self.rows.iter().filter(|row| row.fair == fair) {
                let same =
                    |group: &&mut Vec<&LtlRow>| group[0].fair == fair && group[0].ours == row.ours;
                match groups.iter_mut().find(same) {
                    Some(group) => group.push(row),
                    None => groups.push(vec![row]),
                }
            }
        }
        groups
    }

    /// How many comparisons show a defect.
    pub fn differences(&self) -> usize {
        self.rows.iter().filter(|row| row.difference().is_some()).count()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn judged(verdict: Verdict, cpu: f64, steps: Option<u64>) -> Judged {
        let measured = Measured { cpu, states: 1000, ..Measured::default() };
        let lasso = |steps| Run { steps, infinite: true, ends_with_claim: false };
        Judged { measured, verdict, run: steps.map(lasso) }
    }

    fn row(property: &str, fair: bool, theirs: Judged, ours: Judged) -> LtlRow {
        LtlRow::new("a/m.pml", property, fair, "--threads 1", (&[theirs], &[ours]))
            .expect("both have a round")
    }

    /// Results that are easy to compute by hand.
    pub fn example() -> LtlResults {
        use Verdict::{Holds, Violated};
        let rows = vec![
            row("slow", false, judged(Holds, 8.0, None), judged(Holds, 1.0, None)),
            row("slow", true, judged(Holds, 16.0, None), judged(Violated, 4.0, Some(7))),
            row("lasso", false, judged(Violated, 1.0, Some(80)), judged(Violated, 0.5, Some(10))),
            LtlRow {
                reduced: false,
                ..row("lasso", true, judged(Violated, 0.2, Some(9)), judged(Violated, 0.1, Some(9)))
            },
            LtlRow {
                infinite: false,
                ..row(
                    "never_0",
                    false,
                    judged(Violated, 0.01, Some(1)),
                    judged(Violated, 0.01, Some(2)),
                )
            },
        ];
        let skipped = vec![Skipped {
            model: "a/m.pml never_0".into(),
            program: "SPIN -a -f".into(),
            reason: "pan: time limit".into(),
        }];
        LtlResults { rows, skipped, without: 2, interrupted: false }
    }

    #[test]
    fn verdicts_that_differ_are_told() {
        let results = example();
        let told: Vec<_> = results.rows.iter().filter_map(LtlRow::difference).collect();
        assert_eq!(told, ["holds, and ours violated"]);
        assert_eq!(results.differences(), 1);
    }

    #[test]
    fn fairness_is_told_apart() {
        let mut results = example();
        let of = |group: &[&LtlRow]| -> Vec<String> {
            group.iter().map(|row| row.property.clone()).collect()
        };
        let groups: Vec<_> = results.groups().iter().map(|group| of(group)).collect();
        assert_eq!(groups, [vec!["slow", "lasso", "never_0"], vec!["slow", "lasso"]]);
        results.rows[2].ours = "--threads 2".into();
        let groups: Vec<_> = results.groups().iter().map(|group| of(group)).collect();
        assert_eq!(groups, [vec!["slow", "never_0"], vec!["lasso"], vec!["slow", "lasso"]]);
    }

    #[test]
    fn only_what_takes_spin_long_counts() {
        let results = example();
        let groups = results.groups();
        let all = LtlSummary::of(&groups[0]);
        // 8 and 2 count; 80 to 10, and 1 to 2, which is finite.
        assert_eq!((all.slow, all.runs, all.longer), (2, 2, 1));
        assert!((all.ratio.expect("two count") - 4.0).abs() < 1e-9, "{all:?}");
        assert!((all.steps_ratio.expect("two have runs") - 2.0).abs() < 1e-9, "{all:?}");
        assert!((all.lasso_ratio.expect("one is a lasso") - 8.0).abs() < 1e-9, "{all:?}");
        // Exactly 0.2 s does not count, and one run has nothing beside it.
        let fair = LtlSummary::of(&groups[1]);
        assert_eq!((fair.slow, fair.runs, fair.longer), (1, 1, 0));
        assert_eq!(LtlSummary::of(&[]).ratio, None);
    }

    #[test]
    fn cpu_times_are_medians() {
        let rounds = [3.0, 1.0, 9.0].map(|cpu| judged(Verdict::Holds, cpu, None));
        let row = LtlRow::new("m", "p", false, "", (&rounds, &rounds[1..2])).expect("rounds");
        assert_eq!(row.cpu, [3.0, 1.0]);
        assert_eq!(row.ratio(), Some(3.0));
        assert_eq!(LtlRow::new("m", "p", false, "", (&rounds, &[])), None);
    }

    #[test]
    fn a_run_without_a_step_has_a_ratio() {
        let steps = |steps| LtlRow { steps, ..example().rows[0].clone() }.steps_ratio();
        assert_eq!(steps([Some(0), Some(0)]), Some(1.0));
        assert_eq!(steps([Some(4), Some(0)]), Some(4.0));
        assert_eq!(steps([Some(4), None]), None);
    }
}
