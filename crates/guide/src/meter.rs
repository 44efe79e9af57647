//! Work that is done piece by piece, as it is granted.
//!
//! Who makes a guide does so in a thread of its own, and waits whenever it has done what it was allowed to do; who grants more
//! waits until that is done. So only one of the two is ever at work, and where each of them stands depends on nothing but what was
//! granted: on no clock, and on no number of threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Counts what is done, and keeps it within what is granted.
#[derive(Debug, Default)]
pub struct Meter {
    account: Mutex<Account>,
    changed: Condvar,
    /// Tells how many bytes are in use.
    used: Option<fn() -> u64>,
}

#[derive(Debug, Default)]
struct Account {
    done: u64,
    granted: u64,
    /// Nothing more will be done, or should be.
    is_over: bool,
    /// Why who works has given up, if that is so: it stays so, also if there is enough again of what there was not.
    gave_up: Option<&'static str>,
    /// Bytes that were taken while who works waited.
    elsewhere: i64,
}

impl Meter {
    /// Nothing is granted yet. What it is told tells how many bytes are in use, if that matters.
    pub fn new(used: Option<fn() -> u64>) -> Self {
        Self { used, ..Self::default() }
    }

    /// So much was done; waits until that is granted. Whether to go on.
    pub fn spend(&self, work: u64) -> bool {
        let mut account = self.lock();
        account.done = account.done.saturating_add(work);
        let waits = |account: &Account| account.done > account.granted && !account.is_over;
        if waits(&account) {
            let before = self.used();
            while waits(&account) {
                self.changed.notify_all();
                account = self.wait(account);
            }
            account.elsewhere += self.used() - before;
        }
        !account.is_over
    }

    fn used(&self) -> i64 {
        self.used.map_or(0, |used| used() as i64)
    }

    /// Bytes that were taken while who works waited; less than 0 if more were freed.
    pub fn elsewhere(&self) -> i64 {
        self.lock().elsewhere
    }

    /// Who works gives up, for such a reason, unless it had another one before.
    pub fn give_up(&self, why: &'static str) {
        self.lock().gave_up.get_or_insert(why);
    }

    /// Why who works has given up, if that is so.
    pub fn gave_up(&self) -> Option<&'static str> {
        self.lock().gave_up
    }

    /// Allows so much in all, and waits until it is done.
    pub fn grant(&self, work: u64) {
        let mut account = self.lock();
        if work > account.granted {
            account.granted = work;
            self.changed.notify_all();
        }
        while account.done <= account.granted && !account.is_over {
            account = self.wait(account);
        }
    }

    /// Nothing more is to be done, or will be.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Whether nothing more is to be done.
    pub fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn lock(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, account: MutexGuard<'a, Account>) -> MutexGuard<'a, Account> {
        self.changed.wait(account).unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn what_others_take_meanwhile_is_not_counted() {
        static USED: AtomicU64 = AtomicU64::new(100);
        let meter = Meter::new(Some(|| USED.load(Ordering::Relaxed)));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while meter.spend(1) {
                    USED.fetch_add(5, Ordering::Relaxed);
                }
            });
            for (granted, others) in [(1, 0), (2, 70), (4, -30)] {
                USED.fetch_add(others as u64, Ordering::Relaxed);
                meter.grant(granted);
            }
            meter.end();
        });
        assert_eq!((USED.load(Ordering::Relaxed), meter.elsewhere()), (160, 40));
        meter.give_up("first");
        meter.give_up("second");
        assert_eq!(meter.gave_up(), Some("first"));
    }

    #[test]
    fn who_works_waits_for_more() {
        let (meter, done) = (Meter::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while meter.spend(3) {
                    done.fetch_add(3, Ordering::Relaxed);
                }
            });
            for (granted, after) in [(0, 0), (2, 0), (3, 3), (5, 3), (12, 12), (4, 12)] {
                meter.grant(granted);
                assert_eq!(done.load(Ordering::Relaxed), after, "{granted}");
            }
            meter.end();
            // Who asks for something that ends does not wait.
            meter.grant(100);
        });
        assert_eq!(done.load(Ordering::Relaxed), 12);
    }
}
