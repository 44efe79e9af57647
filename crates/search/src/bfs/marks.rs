//! How near each state is known to be, in one byte.
//!
//! *Idea*: a distance matters only while a state waits: once it is expanded no shorter run to it can
//! come. Those that wait are farther than the level being expanded, but mostly not by much, so their
//! distance is told by its rest modulo [`WINDOW`]. The few that are farther are marked as such, and
//! [`Open`](super::open::Open) knows their distances.

use spinward_store::{Bytes, Full, OutOfMemory};

use crate::limits::Memory;

/// Distances from the current level on that are told apart.
pub(super) const WINDOW: u32 = 252;

/// What is known of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It was not reached.
    New,
    /// It was expanded, or is being expanded.
    Closed,
    /// It was reached by runs longer than the bound only.
    Beyond,
    /// It waits, outside of the window.
    Far,
    /// It waits at this distance.
    Open(u32),
}

const CLOSED: u8 = 1;
const BEYOND: u8 = 2;
const FAR: u8 = 3;
const OPEN: u8 = 4;

/// The marks of all states, read by all threads. States that wait are marked by whoever notes, and
/// closed by the thread that expands them.
pub(super) struct Marks(Bytes);

impl Marks {
    pub fn new(memory: &Memory) -> Result<Self, Full> {
        Ok(Self(Bytes::new(1, memory.budget())?))
    }

    /// The mark of a state while states at distance `level` are expanded.
    #[inline]
    pub fn get(&self, number: u32, level: u32) -> Mark {
        match self.0.first(number) {
            0 => Mark::New,
            CLOSED => Mark::Closed,
            BEYOND => Mark::Beyond,
            FAR => Mark::Far,
            code => {
                let rest = u32::from(code - OPEN);
                Mark::Open(level + (rest + WINDOW - level % WINDOW) % WINDOW)
            }
        }
    }

    #[inline]
    pub fn set(&self, number: u32, mark: Mark) -> Result<(), OutOfMemory> {
        let code = match mark {
            Mark::New => 0,
            Mark::Closed => CLOSED,
            Mark::Beyond => BEYOND,
            Mark::Far => FAR,
            Mark::Open(distance) => OPEN + (distance % WINDOW) as u8,
        };
        self.0.set(number, &[code])
    }

    #[inline]
    pub fn prefetch(&self, number: u32) {
        self.0.prefetch(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_LENGTH;

    #[test]
    fn marks_come_back_within_the_window() {
        let marks = Marks::new(&Memory::new(None)).unwrap();
        assert_eq!(marks.get(5, 0), Mark::New);
        for mark in [Mark::Closed, Mark::Beyond, Mark::Far, Mark::New] {
            marks.set(5, mark).unwrap();
            assert_eq!(marks.get(5, 77), mark);
        }
        for distance in [0, 1, WINDOW - 1, WINDOW, 1000, MAX_LENGTH] {
            marks.set(5, Mark::Open(distance)).unwrap();
            for level in distance.saturating_sub(WINDOW - 1)..=distance {
                assert_eq!(marks.get(5, level), Mark::Open(distance));
            }
        }
    }
}
