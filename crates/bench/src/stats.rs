//! Means of measurements.

/// The value in the middle; of an even number of values, the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The mean of ratios: twice as fast and half as fast make equally fast.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

/// What is said of a column of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many figures there are.
    pub count: usize,
    /// Their geometric mean.
    pub mean: f64,
    /// The one in the middle.
    pub median: f64,
    /// The least.
    pub least: f64,
}

impl Summary {
    /// Of these figures, which must be positive; `None` if there are none.
    pub fn of(figures: &[f64]) -> Option<Self> {
        Some(Self {
            count: figures.len(),
            mean: geometric_mean(figures)?,
            median: median(figures)?,
            least: figures.iter().copied().reduce(f64::min)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 100.0, 2.0]), Some(3.0));
    }

    #[test]
    fn the_mean_is_that_of_ratios() {
        let close = |a: Option<f64>, b: f64| (a.expect("not empty") - b).abs() < 1e-12;
        assert_eq!(geometric_mean(&[]), None);
        assert!(close(geometric_mean(&[2.0, 0.5]), 1.0));
        assert!(close(geometric_mean(&[1.0, 10.0, 100.0]), 10.0));
        assert!(close(geometric_mean(&[2.0, 4.0, 4.0, 8.0]), 4.0));
    }

    #[test]
    fn a_summary_has_all_of_them() {
        let summary = Summary::of(&[8.0, 1.0, 1.0]).expect("not empty");
        assert_eq!((summary.count, summary.median, summary.least), (3, 1.0, 1.0));
        assert!((summary.mean - 2.0).abs() < 1e-12);
        assert_eq!(Summary::of(&[]), None);
    }
}
