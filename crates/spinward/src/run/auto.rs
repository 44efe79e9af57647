//! What `auto` does, in words, and by which guides it looks for errors beside the sweep.

use spinward_search::Outcome;
use spinward_search::sweep::{Answered, Scout, Told};

use super::Running;
use crate::options::{Guide, Search};
use crate::plan::Algorithm;

/// Guides that may find an error soon, each in its own way.
const QUICK: &[&str] =
    &["formula=sum", "active", "fsm-sum", "coverage", "deadlock", "interleaving"];

/// All of them, whether they fit or not.
pub(super) fn quick() -> Vec<Guide> {
    QUICK.iter().filter_map(|name| name.parse().ok()).collect()
}

/// What was done and why, if anything is to be said.
pub(super) fn explanation(all: &[String]) -> Option<String> {
    (!all.is_empty()).then(|| all.join("; "))
}

impl Running<'_> {
    /// Whether the search was left open.
    pub(super) fn is_auto(&self) -> bool {
        self.check.search == Search::Auto
    }

    /// Says what was done and why, once, if that was left open.
    pub(super) fn explain_choice(&mut self, what: String) {
        if self.is_auto() && !self.explanations.contains(&what) {
            self.explanations.push(what);
        }
    }

    /// Says how a sweep came to its answer.
    pub(super) fn explain_sweep(&mut self, told: Told, outcome: &Outcome, quick: &[Guide]) {
        if !self.is_auto() {
            return;
        }
        let name = |who| match who {
            Scout::Guide(number) => {
                let name = quick.get(number).map(Guide::to_string);
                format!("a greedy search by the guide {}", name.unwrap_or_default())
            }
            Scout::DepthFirst => "a depth-first search".into(),
        };
        let met_by = told.met_by.map_or_else(|| "a sweep, which is fastest,".into(), name);
        let is_shortest = outcome.errors.first().is_some_and(|error| error.shortest);
        let what = match told.answered {
            Answered::Sweep if outcome.is_complete() => {
                "a sweep, which is fastest, saw all states".into()
            }
            Answered::Sweep if outcome.met > 0 => format!("{met_by} met an error"),
            Answered::Sweep => "a sweep, which is fastest, met no error so far".into(),
            Answered::BreadthFirst if outcome.errors.is_empty() => {
                "breadth first, since states are not all there is to a run".into()
            }
            Answered::BreadthFirst if is_shortest => {
                format!(
                    "{met_by} met an error; a breadth-first search then found a shortest run to it"
                )
            }
            Answered::BreadthFirst => {
                format!("{met_by} met an error; a breadth-first search then found a run to it")
            }
            Answered::DepthFirst | Answered::Retraced | Answered::Scouted => {
                let far = format!("{met_by} met an error too far for a short breadth-first search");
                match (told.answered, told.found_by) {
                    (_, Some(who)) if told.met_by == Some(who) => far,
                    (_, Some(who)) => format!("{far}; {} found this run", name(who)),
                    (Answered::DepthFirst, _) => {
                        format!("{far}; a depth-first search found this run")
                    }
                    _ => format!("{far}; another sweep found this run"),
                }
            }
        };
        self.explain_choice(what);
    }

    /// Says how to have a shortest run, if one is told that may be longer.
    pub(super) fn explain_length(&mut self) {
        let may_be_longer =
            self.errors.iter().any(|error| !error.shortest && error.cycle_start.is_none());
        if self.method.algorithm == Algorithm::Sweep && may_be_longer {
            self.explain_choice("with --shortest it goes on until no run is shorter".into());
        }
    }
}
