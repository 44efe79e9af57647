//! How much may be spent on making a guide.

use std::time::Instant;

use spinward_machine::Stop;

use crate::meter::Meter;
use crate::{Guide, Room, Way};

const MEMORY: &str = "it takes more memory than there is";

/// Who asked for it has come to an end.
pub(crate) const NOT_NEEDED: &str = "it was not needed any more";

/// What ends the making of a guide; nothing does, if not said otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience<'a> {
    /// Told from outside: give up.
    pub stop: Option<&'a Stop>,
    /// When time is over.
    pub until: Option<Instant>,
    /// Tells how many bytes are in use, and how many may be; those that others take while it waits for more work are not counted.
    pub memory: Option<(fn() -> u64, u64)>,
    /// What grants the work, if it is done bit by bit.
    pub meter: Option<&'a Meter>,
}

impl Patience<'_> {
    /// So many moves of parts were looked at; whether to go on.
    pub(crate) fn spend(&self, moves: u64) -> bool {
        self.meter.is_none_or(|meter| meter.spend(moves))
    }

    /// Why it is time to give up, if it is. What is made bit by bit is given up for ever.
    pub fn over(&self) -> Option<&'static str> {
        let why = self.gave_up().or_else(|| self.why());
        if let (Some(why), Some(meter)) = (why, self.meter) {
            meter.give_up(why);
        }
        why
    }

    /// There would be more to do if there were more memory. What is made bit by bit is given up then.
    pub(crate) fn lack_memory(&self) {
        if let Some(meter) = self.meter {
            meter.give_up(MEMORY);
        }
    }

    /// Why what is made bit by bit was given up, if it was.
    pub(crate) fn gave_up(&self) -> Option<&'static str> {
        self.meter.and_then(Meter::gave_up)
    }

    fn why(&self) -> Option<&'static str> {
        if self.meter.is_some_and(Meter::is_over) {
            return Some(NOT_NEEDED);
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Some("it takes more time than there is");
        }
        if self.stop.is_some_and(|stop| stop.is_told()) {
            return Some("it was interrupted");
        }
        (self.room() == 0).then_some(MEMORY)
    }

    /// Bytes that there are left.
    pub fn room(&self) -> u64 {
        let elsewhere = self.meter.map_or(0, Meter::elsewhere);
        let left = |(used, most): (fn() -> u64, u64)| {
            most.saturating_add_signed(elsewhere).saturating_sub(used())
        };
        self.memory.map_or(u64::MAX, left)
    }
}

/// Counts what is looked at, and asks now and then whether to go on: that takes some system calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace<'a> {
    patience: Patience<'a>,
    /// Moves that were looked at since it was last asked.
    unseen: u64,
}

/// Moves that are looked at before it is asked again.
const UNWATCHED: u64 = 1 << 16;

impl<'a> Pace<'a> {
    pub fn new(patience: Patience<'a>) -> Self {
        Self { patience, unseen: 0 }
    }

    /// So many moves were looked at. If it is time to give up, it says why.
    pub fn spend(&mut self, moves: u64) -> Result<(), &'static str> {
        self.unseen += moves;
        if self.unseen < UNWATCHED { Ok(()) } else { self.look() }
    }

    /// Asks now.
    pub fn look(&mut self) -> Result<(), &'static str> {
        self.patience.spend(std::mem::take(&mut self.unseen));
        self.patience.over().map_or(Ok(()), Err)
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
