//! What becomes of the blocks, one after the other.
//!
//! Whether a state is new, how near it is and by which way it was reached is decided here, strictly in
//! the order of the blocks, hence of the states in them; so is where the search ends. Nothing here
//! depends on which thread expanded a block, or when, or on the numbers the store gave to states.

use spinward_machine::Violation;

use super::expand::{Arrival, Block, Shared};
use super::marks::Mark;
use super::open::Open;
use super::ways::Way;
use crate::findings::Findings;
use crate::limits::{Limit, longer};
use crate::outcome::{Counts, Request, Stopped};

/// What is known so far.
pub(super) struct Notes {
    pub counts: Counts,
    pub open: Open,
    /// The distance of the states being expanded.
    pub level: u32,
    /// Whether a violation was met beyond the bound.
    pub beyond: bool,
    /// With the position of the state where each shows.
    pub findings: Findings<u64>,
    errors: usize,
    max_states: u64,
}

impl Notes {
    pub fn new(open: Open, request: &Request) -> Self {
        Self {
            counts: Counts::default(),
            open,
            level: 0,
            beyond: false,
            findings: Findings::new(),
            errors: request.errors,
            max_states: request.limits.max_states.unwrap_or(u64::MAX),
        }
    }

    /// Whether as many errors were found as were asked for, and none shorter can come.
    pub fn check_errors(&self) -> Result<(), Stopped> {
        if self.errors > 0 && self.findings.within(self.level) >= self.errors {
            return Err(Stopped::Errors);
        }
        Ok(())
    }

    /// Notes what came of a block. Errors are noted also past a limit: they were found.
    pub fn note<S, T>(&mut self, block: &Block, shared: &Shared<'_, S, T>) -> Result<(), Stopped> {
        let mut within = Ok(());
        let width = shared.hidden.width();
        let (mut next_arrival, mut next_violation) = (0, 0);
        for expanded in &block.expanded {
            self.counts.depth = self.level.into();
            let before = self.counts.transitions;
            let mut looked_at = if within.is_ok() { expanded.successors } else { 0 };
            for i in next_arrival..expanded.arrivals {
                if within.is_err() {
                    break;
                }
                let arrival = block.arrivals[i];
                let hidden = &block.hidden[width * i..width * (i + 1)];
                within = self.reach(arrival, hidden, expanded.position, shared);
                if within.is_err() {
                    looked_at = arrival.successor - expanded.left_out + 1;
                }
            }
            self.counts.transitions = before + u64::from(looked_at);
            let known = self.findings.len();
            for &(violation, length) in &block.violations[next_violation..expanded.violations] {
                self.meet(violation, longer(self.level, length), expanded.position, shared.bound);
            }
            (next_arrival, next_violation) = (expanded.arrivals, expanded.violations);
            if within.is_ok() {
                self.counts.expanded += u64::from(expanded.whole);
                if self.findings.len() > known {
                    self.check_errors()?;
                }
            }
        }
        let broken = block.broken.map_or(Ok(()), Err);
        within.and(broken).and_then(|()| shared.clock.check()).map_err(Stopped::Limit)
    }

    /// A run leads to a state, by way of the one at this position.
    pub fn reach<S, T>(
        &mut self,
        arrival: Arrival,
        hidden: &[u8],
        parent: u64,
        shared: &Shared<'_, S, T>,
    ) -> Result<(), Limit> {
        let Arrival { number, successor, distance, bytes } = arrival;
        let Shared { marks, memory, .. } = shared;
        let before = marks.get(number, self.level);
        let nearer = match before {
            Mark::New => true,
            Mark::Closed => false,
            Mark::Beyond => distance <= shared.bound,
            Mark::Far => self.open.far_distance(number).is_none_or(|known| distance < known),
            Mark::Open(known) => distance < known,
        };
        if !nearer {
            return Ok(());
        }
        if before == Mark::New {
            self.counts.state_bytes = self.counts.state_bytes.max(bytes.into());
        }
        if distance > shared.bound {
            return Ok(marks.set(number, Mark::Beyond)?);
        }
        if matches!(before, Mark::New | Mark::Beyond) {
            if self.counts.states >= self.max_states {
                return Err(Limit::States);
            }
            self.counts.states += 1;
        }
        shared.hidden.set(number, hidden)?;
        self.open.push(number, distance, Way { parent, successor }, self.level, marks, memory)
    }

    /// A violation shows after a run of this length, on the way out of the state at this position.
    fn meet(&mut self, violation: Violation, length: u32, position: u64, bound: u32) {
        if length > bound {
            self.beyond = true;
            return;
        }
        self.counts.errors += 1;
        self.findings.meet(violation, length, position);
    }
}
