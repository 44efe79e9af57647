//! Shortest runs, when some are known.

use std::time::Instant;

use spinward_machine::system::length;
use spinward_store::trim;

use crate::limits::Limits;
use crate::outcome::{Outcome, Place, Request, Stopped};

/// After a search whose runs need not be shortest ones, as it left out what makes no difference, or did not expect
/// what it found: if something is wrong, searches once more, as far as that is. The runs to all errors are
/// shortest ones then, unless a limit was hit before that was sure.
pub(crate) fn look_again(
    mut outcome: Outcome,
    request: &Request,
    begun: Instant,
    search: impl FnOnce(&Request) -> Outcome,
) -> Outcome {
    outcome.errors.iter_mut().for_each(|error| error.shortest = false);
    let longest = outcome.errors.iter().map(|error| length(&error.steps)).max();
    let Some(longest) = longest.filter(|_| !matches!(outcome.stopped, Some(Stopped::Limit(_))))
    else {
        return outcome;
    };
    let time = request.limits.time.map(|time| time.saturating_sub(begun.elapsed()));
    let limits = Limits { max_depth: Some(longest as u64), time, ..request.limits.clone() };
    let errors = if request.errors == 0 { outcome.errors.len() } else { request.errors };
    let request = Request { limits, errors, reduces: false, ..request.clone() };
    trim();
    outcome.shorten(search(&request));
    outcome
}

impl Outcome {
    /// Takes the runs that another search found, if it saw all that are as short.
    fn shorten(&mut self, other: Self) {
        self.counts.memory = self.counts.memory.max(other.counts.memory);
        if matches!(other.stopped, Some(Stopped::Limit(_))) {
            return;
        }
        let ended = self.stopped == Some(Stopped::Errors);
        let before = std::mem::replace(&mut self.errors, other.errors);
        for error in self.errors.iter_mut().filter(|_| !ended) {
            let place = Place::of(error.violation);
            if let Some(before) = before.iter().find(|it| Place::of(it.violation) == place) {
                error.occurrences = before.occurrences;
            }
        }
        // What was found before must not get lost, even if it should not be there.
        let count = before.len();
        for error in before {
            let place = Place::of(error.violation);
            let is_known = self.errors.iter().any(|it| Place::of(it.violation) == place);
            if self.errors.len() < count && !is_known {
                self.errors.push(error);
            }
        }
    }
}
