//! Atomics and locks: the standard ones, or loom's when it checks the small cases.

#[cfg(loom)]
pub(crate) use loom::{
    sync::{
        Mutex,
        atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering},
    },
    thread::yield_now,
};

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{
        Mutex,
        atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering},
    },
    thread::yield_now,
};

use std::sync::PoisonError;

/// Locks. What the locks of this crate guard is whole between any two operations, so a thread that
/// panicked with one in its hands left nothing half done.
#[cfg(not(loom))]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(loom)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> loom::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that is written often, alone in its cache lines (two, which processors fetch together):
/// otherwise those who read what lies beside it would wait each time.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Waits a little for another thread, which needs some nanoseconds if it runs and much longer if
/// it does not.
pub(crate) struct Patience(u32);

impl Patience {
    pub fn new() -> Self {
        Self(0)
    }

    pub fn wait(&mut self) {
        self.0 += 1;
        if cfg!(loom) || self.0 > 64 {
            yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
