//! A budget of memory that threads share.
//!
//! Bytes are taken before they are allocated and given back after they were freed, so the sum of
//! what is allocated never exceeds the budget, not even for a moment. The counters publish nothing
//! but themselves: relaxed ordering is enough.

use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

/// A budget of memory that threads share.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

/// There is not so much left in the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the memory budget is used up")]
pub struct OutOfMemory;

impl Budget {
    /// So many bytes; none: no end.
    pub fn new(limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Bytes in all.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were in use at a time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// To be called before so many bytes are allocated.
    pub fn take(&self, bytes: u64) -> Result<(), OutOfMemory> {
        let more = |used: u64| used.checked_add(bytes).filter(|&used| used <= self.limit);
        let before = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .map_err(|_| OutOfMemory)?;
        self.peak.fetch_max(before + bytes, Ordering::Relaxed);
        Ok(())
    }

    /// To be called when so many bytes more, which are not taken, are in use for a moment. Threads do so for each state, so
    /// nothing is written that others would have to wait for, unless there is a new peak.
    pub fn lend(&self, bytes: u64) -> Result<(), OutOfMemory> {
        let all = self.used().checked_add(bytes).filter(|&all| all <= self.limit);
        let all = all.ok_or(OutOfMemory)?;
        if all > self.peak() {
            self.peak.fetch_max(all, Ordering::Relaxed);
        }
        Ok(())
    }

    /// To be called before so many bytes are allocated that there must be, as others are about to be freed.
    pub fn overdraw(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(used, Ordering::Relaxed);
    }

    /// To be called after so many bytes, taken before, were freed.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit() {
        let budget = Budget::new(Some(100));
        assert_eq!(budget.take(60), Ok(()));
        assert_eq!(budget.take(41), Err(OutOfMemory));
        assert_eq!(budget.take(u64::MAX), Err(OutOfMemory));
        assert_eq!(budget.take(40), Ok(()));
        budget.give_back(50);
        assert_eq!((budget.used(), budget.peak()), (50, 100));
    }

    #[test]
    fn what_is_lent_counts_for_a_moment() {
        let budget = Budget::new(Some(100));
        assert_eq!(budget.take(60), Ok(()));
        assert_eq!(budget.lend(30), Ok(()));
        assert_eq!(budget.lend(10), Ok(()));
        assert_eq!(budget.lend(41), Err(OutOfMemory));
        assert_eq!(budget.lend(u64::MAX), Err(OutOfMemory));
        assert_eq!((budget.used(), budget.peak()), (60, 90));
    }
}
