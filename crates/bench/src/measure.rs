//! What is measured of one job: the same for all programs, so that they can be compared.

use crate::stats::median;

/// Below so many states a search is over before it has begun: what its CPU time and its memory tell
/// is the cost of starting a program.
pub const TOO_FEW_STATES: u64 = 10_000;

/// One search, from the source to the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Seconds from the source to the verdict; none where what is compiled is not a model.
    pub seconds: Option<f64>,
    /// CPU seconds of the search.
    pub cpu: f64,
    /// Distinct states.
    pub states: u64,
    /// Transitions, if they are counted as SPIN counts them.
    pub transitions: Option<u64>,
    /// Bytes that the visited states take, as the program tells.
    pub bytes: Option<f64>,
    /// The most memory of a process at a time, in bytes, as the system tells.
    pub peak: u64,
    /// Whether states and transitions are all that the model has, no more and no fewer: no
    /// reduction, no state missed.
    pub plain: bool,
}

impl Measured {
    /// States in a CPU second, if there are enough to tell.
    pub fn rate(&self) -> Option<f64> {
        (self.states >= TOO_FEW_STATES && self.cpu > 0.0).then(|| self.states as f64 / self.cpu)
    }

    /// Bytes for each state, if there are enough to tell.
    pub fn bytes_per_state(&self) -> Option<f64> {
        let enough = self.states >= TOO_FEW_STATES;
        self.bytes.filter(|&bytes| enough && bytes > 0.0).map(|bytes| bytes / self.states as f64)
    }
}

/// The rounds of one program on one model, in three figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Seconds from the source to the verdict.
    pub seconds: Option<f64>,
    /// States in a CPU second.
    pub rate: Option<f64>,
    /// Bytes a state.
    pub bytes: Option<f64>,
}

impl Figures {
    /// The medians over the rounds.
    pub fn of(rounds: &[Measured]) -> Self {
        let middle = |figure: fn(&Measured) -> Option<f64>| {
            median(&rounds.iter().filter_map(figure).collect::<Vec<_>>())
        };
        Self {
            seconds: middle(|round| round.seconds),
            rate: middle(Measured::rate),
            bytes: middle(Measured::bytes_per_state),
        }
    }

    /// How many times better than the other's these figures are: sooner, faster, smaller.
    pub fn against(&self, other: &Self) -> Self {
        let ratio = |more: Option<f64>, less: Option<f64>| {
            Some(more? / less?).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        };
        Self {
            seconds: ratio(other.seconds, self.seconds),
            rate: ratio(self.rate, other.rate),
            bytes: ratio(other.bytes, self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(seconds: f64, cpu: f64, bytes: f64) -> Measured {
        Measured {
            seconds: Some(seconds),
            cpu,
            states: 20_000,
            bytes: Some(bytes),
            ..Measured::default()
        }
    }

    #[test]
    fn figures_are_medians() {
        let rounds = [round(1.0, 2.0, 2e5), round(9.0, 1.0, 4e5), round(2.0, 4.0, 2e5)];
        let figures = Figures::of(&rounds);
        let expected = Figures { seconds: Some(2.0), rate: Some(10_000.0), bytes: Some(10.0) };
        assert_eq!(figures, expected);
    }

    #[test]
    fn a_few_states_tell_no_rate() {
        let tiny = Measured { states: TOO_FEW_STATES - 1, ..round(1.0, 1.0, 1.0) };
        let figures = Figures::of(&[tiny]);
        assert_eq!(figures, Figures { seconds: Some(1.0), rate: None, bytes: None });
    }

    #[test]
    fn a_ratio_above_one_is_better() {
        let spin = Figures::of(&[round(8.0, 2.0, 8e5)]);
        let ours = Figures::of(&[round(1.0, 1.0, 2e5)]);
        let ratio = Figures { seconds: Some(8.0), rate: Some(2.0), bytes: Some(4.0) };
        assert_eq!(ours.against(&spin), ratio);
        let unknown = Figures { bytes: None, ..ours };
        assert_eq!(unknown.against(&spin).bytes, None);
    }
}
