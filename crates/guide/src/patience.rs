//! How much may be spent on a guide before the search begins.

use std::time::Instant;

use spinward_machine::Stop;

use crate::{Guide, Room, Way};

/// What ends the making of a guide; nothing does, if not said otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience<'a> {
    /// Told from outside: give up.
    pub stop: Option<&'a Stop>,
    /// When time is over.
    pub until: Option<Instant>,
    /// Tells how many bytes are in use, and how many may be.
    pub memory: Option<(fn() -> u64, u64)>,
}

impl Patience<'_> {
    /// Why it is time to give up, if it is.
    pub fn over(&self) -> Option<&'static str> {
        if self.stop.is_some_and(|stop| stop.is_told()) {
            return Some("it was interrupted");
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Some("it takes more time than there is");
        }
        (self.room() == 0).then_some("it takes more memory than there is")
    }

    /// Bytes that there are left.
    pub fn room(&self) -> u64 {
        self.memory.map_or(u64::MAX, |(used, most)| most.saturating_sub(used()))
    }
}

/// A guide that was given up: it knows nothing.
pub struct GivenUp {
    notes: [String; 1],
}

impl GivenUp {
    pub fn new(guide: &str, why: &str) -> Self {
        Self {
            notes: [format!(
                "the guide '{guide}' was not made, {why}; this is a search without one"
            )],
        }
    }
}

impl Guide for GivenUp {
    fn estimate(&self, _: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        0
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        true
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
