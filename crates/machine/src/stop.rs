//! A wish that work be given up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Tells work, of however many threads, to give up; except for what must not be given up, such as to put together the
/// run to an error that was found: that does not see the wish until it is done, also if it comes meanwhile.
#[derive(Debug, Default)]
pub struct Stop {
    /// What the work looks at.
    told: AtomicBool,
    wish: Mutex<Wish>,
}

#[derive(Debug, Default)]
struct Wish {
    /// How many have it.
    asked: u32,
    /// How much work is under way that does not see it.
    undisturbed: u32,
}

impl Stop {
    /// Asks for it.
    pub fn ask(&self) {
        self.change(|wish| wish.asked += 1);
    }

    /// Takes back that it was asked for, which others may have done too.
    pub fn take_back(&self) {
        self.change(|wish| wish.asked -= 1);
    }

    /// Whether to give up.
    #[inline]
    pub fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    /// Does something that must not be given up.
    pub fn undisturbed<T>(&self, work: impl FnOnce() -> T) -> T {
        self.change(|wish| wish.undisturbed += 1);
        let result = work();
        self.change(|wish| wish.undisturbed -= 1);
        result
    }

    fn change(&self, change: impl FnOnce(&mut Wish)) {
        let mut wish = self.wish.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut wish);
        self.told.store(wish.asked > 0 && wish.undisturbed == 0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_not_be_given_up_does_not_see_a_wish_that_comes_meanwhile() {
        let stop = Stop::default();
        stop.undisturbed(|| {
            stop.ask();
            assert!(!stop.is_told());
            stop.undisturbed(|| assert!(!stop.is_told()));
            assert!(!stop.is_told());
        });
        assert!(stop.is_told());
        stop.undisturbed(|| assert!(!stop.is_told()));
        assert!(stop.is_told());
    }

    #[test]
    fn who_takes_a_wish_back_does_so_for_nobody_else() {
        let stop = Stop::default();
        stop.ask();
        stop.ask();
        stop.take_back();
        assert!(stop.is_told());
        stop.take_back();
        assert!(!stop.is_told());
    }
}
