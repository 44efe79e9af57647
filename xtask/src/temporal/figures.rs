//! How often what was compared, and how it came out where it may come out either way.

use std::collections::BTreeMap;
use std::fmt;

/// Figures of one model or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Verdicts by another way to check, compared with the first.
    pub ways: u64,
    /// Checks that had no time to come to an end.
    pub unfinished: u64,
    /// Verdicts under fairness of one kind, compared with those of another.
    pub fairness: u64,
    /// Formulas compared with the claims made of them.
    pub texts: u64,
    /// Verdicts compared with SPIN's, by what SPIN was asked for; how many were errors.
    pub spin: BTreeMap<&'static str, Share>,
    /// Verdicts that SPIN's `-f` does not give, by what kind of difference it is.
    pub unfair: BTreeMap<String, u64>,
    /// Numbers of states in complete searches that are SPIN's.
    pub states: Share,
    /// How often there are others because a claim goes on alone where nobody else can move.
    pub stuck: u64,
    /// Those at an error.
    pub states_at_error: Share,
    /// Runs longer than SPIN's, by check.
    pub longer: BTreeMap<String, Share>,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub part: u64,
    pub all: u64,
}

impl Share {
    /// One more, which is one of the part or not.
    pub fn count(&mut self, is_part: bool) {
        self.part += u64::from(is_part);
        self.all += 1;
    }

    fn add(&mut self, other: Self) {
        self.part += other.part;
        self.all += other.all;
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.part, self.all)
    }
}

impl Figures {
    /// Takes in those of another model.
    pub fn add(&mut self, other: Self) {
        self.ways += other.ways;
        self.unfinished += other.unfinished;
        self.stuck += other.stuck;
        self.fairness += other.fairness;
        self.texts += other.texts;
        for (what, share) in other.spin {
            self.spin.entry(what).or_default().add(share);
        }
        for (kind, count) in other.unfair {
            *self.unfair.entry(kind).or_default() += count;
        }
        self.states.add(other.states);
        self.states_at_error.add(other.states_at_error);
        for (search, share) in other.longer {
            self.longer.entry(search).or_default().add(share);
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "compared: {} ways to check; {} not finished", self.ways, self.unfinished)?;
        writeln!(f, "compared: {} kinds of fairness", self.fairness)?;
        writeln!(f, "compared: {} formulas with never claims", self.texts)?;
        for (what, share) in &self.spin {
            writeln!(f, "compared with SPIN's {what}: errors in {share}")?;
        }
        for (kind, count) in &self.unfair {
            writeln!(f, "SPIN's -f differs: {count} times {kind}")?;
        }
        let Self { states, stuck, states_at_error, .. } = self;
        writeln!(
            f,
            "states as SPIN's: {states}, {stuck} others by stuck ones; at an error {states_at_error}"
        )?;
        for (search, share) in &self.longer {
            writeln!(f, "longer than SPIN's by {search}: {share} runs")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_add_up() {
        let mut one = Figures { ways: 2, ..Figures::default() };
        one.spin.entry("-a").or_default().count(true);
        one.states.count(false);
        let mut both = one.clone();
        both.add(one);
        assert_eq!(both.ways, 4);
        assert_eq!(both.spin["-a"], Share { part: 2, all: 2 });
        assert_eq!(both.states, Share { part: 0, all: 2 });
    }
}
