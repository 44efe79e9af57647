//! What came out of a run: the programs beside each other, model by model.

use crate::measure::{Figures, Measured};
use crate::pan::same_count;
use crate::stats::Summary;

/// All that came out of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Comparisons that could be made.
    pub rows: Vec<Row>,
    /// Jobs that gave no figures.
    pub skipped: Vec<Skipped>,
    /// Models that were not asked for: how many, and why.
    pub left_out: Vec<(usize, String)>,
    /// Whether the user stopped the run.
    pub interrupted: bool,
}

/// Two programs on one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The model.
    pub model: String,
    /// The other program, and how it searched.
    pub rival: String,
    /// Our options.
    pub ours: String,
    /// States that the other program and ours found.
    pub states: [u64; 2],
    /// The figures of the other program.
    pub rival_figures: Figures,
    /// Our figures.
    pub our_figures: Figures,
    /// What should be equal and is not: a defect.
    pub difference: Option<String>,
}

/// A job that gave no figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The model.
    pub model: String,
    /// The program, and how it searched.
    pub program: String,
    /// Why.
    pub reason: String,
}

impl Row {
    /// Compares the rounds of two programs on a model; `None` if one of them has none.
    pub fn new(
        model: &str,
        (rival, rival_rounds): (&str, &[Measured]),
        (ours, our_rounds): (&str, &[Measured]),
    ) -> Option<Self> {
        let (theirs, mine) = (rival_rounds.first()?, our_rounds.first()?);
        Some(Self {
            model: model.to_owned(),
            rival: rival.to_owned(),
            ours: ours.to_owned(),
            states: [theirs.states, mine.states],
            rival_figures: Figures::of(rival_rounds),
            our_figures: Figures::of(our_rounds),
            difference: difference(theirs, mine),
        })
    }

    /// How many times better than the other program we are.
    pub fn ratios(&self) -> Figures {
        self.our_figures.against(&self.rival_figures)
    }
}

/// What differs of two searches that visited all there is.
fn difference(theirs: &Measured, ours: &Measured) -> Option<String> {
    if !theirs.plain || !ours.plain {
        return None;
    }
    let transitions = theirs.transitions.zip(ours.transitions);
    let counts = [("states", Some((theirs.states, ours.states))), ("transitions", transitions)];
    let mut unequal = counts.into_iter().filter_map(|(what, counts)| {
        let (theirs, ours) = counts?;
        (!same_count(theirs, ours)).then(|| format!("{what}: {theirs} and ours {ours}"))
    });
    unequal.next()
}

impl Results {
    /// The rows of each pair of programs, in the order in which the pairs appear.
    pub fn pairs(&self) -> Vec<Vec<&Row>> {
        let mut pairs: Vec<Vec<&Row>> = Vec::new();
        for row in &self.rows {
            let same =
                |pair: &&mut Vec<&Row>| pair[0].rival == row.rival && pair[0].ours == row.ours;
            match pairs.iter_mut().find(same) {
                Some(pair) => pair.push(row),
                None => pairs.push(vec![row]),
            }
        }
        pairs
    }

    /// How many comparisons show a defect.
    pub fn differences(&self) -> usize {
        self.rows.iter().filter(|row| row.difference.is_some()).count()
    }
}

/// What is said of a figure of all rows that have it.
pub fn summary(rows: &[&Row], figure: impl Fn(&Row) -> Option<f64>) -> Option<Summary> {
    let figures: Vec<f64> = rows.iter().filter_map(|row| figure(row)).collect();
    Summary::of(&figures)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn measured(states: u64, cpu: f64, seconds: f64, bytes: f64) -> Measured {
        Measured {
            seconds: Some(seconds),
            cpu,
            states,
            transitions: Some(2 * states),
            bytes: Some(bytes * states as f64),
            peak: 1 << 20,
            plain: true,
        }
    }

    /// Results that are easy to compute by hand.
    pub fn example() -> Results {
        let (spin, ours) = ("SPIN safety", "--search bfs");
        let row = |model, theirs, mine| {
            Row::new(model, (spin, &[theirs]), (ours, &[mine])).expect("both have a round")
        };
        Results {
            rows: vec![
                row(
                    "a/large.pml",
                    measured(2_000_000, 2.0, 4.0, 40.0),
                    measured(2_000_000, 0.5, 1.0, 20.0),
                ),
                row(
                    "wrong<2>.pml",
                    measured(100_000, 0.1, 1.6, 60.0),
                    measured(100_001, 0.1, 0.1, 15.0),
                ),
                row("small.pml", measured(10, 0.01, 1.0, 9.0), measured(10, 0.002, 0.004, 1e5)),
            ],
            skipped: vec![Skipped {
                model: "huge.pml".into(),
                program: spin.into(),
                reason: "pan: time limit".into(),
            }],
            left_out: vec![(3, "SPIN takes longer than 5 s".into())],
            interrupted: false,
        }
    }

    #[test]
    fn unequal_counts_are_told() {
        let results = example();
        let told: Vec<_> = results.rows.iter().map(|row| row.difference.as_deref()).collect();
        assert_eq!(told, [None, Some("states: 100000 and ours 100001"), None]);
        assert_eq!(results.differences(), 1);
    }

    #[test]
    fn transitions_must_be_equal_too() {
        let theirs = measured(10, 1.0, 1.0, 1.0);
        let ours = Measured { transitions: Some(21), ..theirs };
        assert_eq!(difference(&theirs, &ours).as_deref(), Some("transitions: 20 and ours 21"));
        let reduced = Measured { plain: false, ..ours };
        assert_eq!(difference(&theirs, &reduced), None);
        let uncounted = Measured { transitions: None, ..ours };
        assert_eq!(difference(&theirs, &uncounted), None);
    }

    #[test]
    fn rows_are_told_pair_by_pair() {
        let mut results = example();
        results.rows[1].ours = "--store tree".into();
        let pairs = results.pairs();
        let models: Vec<Vec<_>> =
            pairs.iter().map(|pair| pair.iter().map(|row| row.model.as_str()).collect()).collect();
        assert_eq!(models, [vec!["a/large.pml", "small.pml"], vec!["wrong<2>.pml"]]);
    }

    #[test]
    fn a_summary_is_over_those_that_have_the_figure() {
        let results = example();
        let rows: Vec<&Row> = results.rows.iter().collect();
        let rate = summary(&rows, |row| row.ratios().rate).expect("two have it");
        assert_eq!(rate.count, 2);
        // One of them found a state more in the same time.
        assert!((rate.least - 1.00001).abs() < 1e-9);
        assert!((rate.mean - 4.00004_f64.sqrt()).abs() < 1e-9);
    }
}
