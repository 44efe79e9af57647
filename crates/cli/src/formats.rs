//! What a check found, as other programs read it.

mod junit;
mod sarif;

use clap::ValueEnum;
use spinward::Report;
use spinward_trail::run::StepLine;

/// How the answer of a check is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Human,
    /// For scripts: one JSON object, see `spinward schema`
    Json,
    /// For code hosts and editors: SARIF 2.1.0
    Sarif,
    /// For CI: JUnit's XML, one test case for each property
    Junit,
}

impl Format {
    /// The format that a command line asks for, though it could not be understood as a whole.
    pub fn asked_for<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut words = words.into_iter().skip_while(|word| !word.starts_with("--format"));
        let value = match words.next() {
            Some("--format") => words.next(),
            Some(word) => word.strip_prefix("--format="),
            None => None,
        };
        value.and_then(|value| Self::from_str(value, false).ok()).unwrap_or_default()
    }

    /// A report in this format, unless it is for people; `runs` are the steps of those to its errors.
    pub fn of_report(self, report: &Report, runs: &[Vec<StepLine>]) -> Option<String> {
        match self {
            Self::Human => None,
            Self::Json => Some(report.to_json() + "\n"),
            Self::Sarif => Some(sarif::sarif(report, runs)),
            Self::Junit => Some(junit::junit(report)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_known_before_the_rest() {
        let format = |line: &str| Format::asked_for(line.split(' '));
        assert_eq!(format("check --format json --nonsense m.pml"), Format::Json);
        assert_eq!(format("check --nonsense --format=sarif m.pml"), Format::Sarif);
        assert_eq!(format("check --nonsense m.pml"), Format::Human);
        assert_eq!(format("check --format"), Format::Human);
        assert_eq!(format("check --format=yaml m.pml"), Format::Human);
    }
}
