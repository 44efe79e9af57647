//! Memory that starts as zeroes, and hints to the processor: the unsafe code of this crate.

#![allow(unsafe_code, reason = "each block says why it is sound")]

#[cfg(loom)]
use std::ops::Deref;

use crate::sync::{AtomicU32, AtomicU64};

/// A type of which all-zero bytes are a value, equal to its default; and one that needs no drop.
///
/// # Safety
/// Both must be true.
pub(crate) unsafe trait Zeroable: Default + Sync + Send {}

// SAFETY: atomics have the representation of their integers.
unsafe impl Zeroable for AtomicU32 {}
// SAFETY: as above.
unsafe impl Zeroable for AtomicU64 {}

/// From this size on memory is asked of the system in huge pages, which spares most misses of the
/// address cache.
#[cfg(all(target_os = "linux", not(miri), not(loom)))]
const HUGE_PAGE: usize = 2 << 20;

/// A slice of zeroes on the heap, in whole cache lines.
#[cfg(not(loom))]
pub(crate) struct Zeroed<T: Zeroable> {
    start: std::ptr::NonNull<T>,
    len: usize,
}

#[cfg(not(loom))]
mod allocation {
    use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
    use std::ptr::NonNull;

    use super::{Zeroable, Zeroed};

    // SAFETY: a `Zeroed` owns its elements like a box.
    unsafe impl<T: Zeroable> Send for Zeroed<T> {}
    // SAFETY: as above.
    unsafe impl<T: Zeroable> Sync for Zeroed<T> {}

    impl<T: Zeroable> Zeroed<T> {
        /// So many zeroes, at least one.
        pub fn new(len: usize) -> Self {
            let layout = Self::layout(len);
            assert!(layout.size() > 0);
            #[cfg(all(target_os = "linux", not(miri)))]
            if layout.size() >= super::HUGE_PAGE {
                return Self { start: map(layout), len };
            }
            // SAFETY: the size is not zero.
            let start = unsafe { alloc_zeroed(layout) };
            let Some(start) = NonNull::new(start.cast()) else { handle_alloc_error(layout) };
            Self { start, len }
        }

        pub(super) fn layout(len: usize) -> Layout {
            let layout = Layout::array::<T>(len).and_then(|layout| layout.align_to(64));
            layout.unwrap_or_else(|_| panic!("{len} elements do not fit into the address space"))
        }
    }

    impl<T: Zeroable> Drop for Zeroed<T> {
        fn drop(&mut self) {
            let layout = Self::layout(self.len);
            #[cfg(all(target_os = "linux", not(miri)))]
            if layout.size() >= super::HUGE_PAGE {
                // SAFETY: `map` made it with this size, and nobody uses it any more.
                unsafe { libc::munmap(self.start.as_ptr().cast(), layout.size()) };
                return;
            }
            // SAFETY: `new` allocated it with this layout; the elements need no drop.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }

    /// Pages of the system's own.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn map<T>(layout: Layout) -> NonNull<T> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new private mapping touches no memory that is in use.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), layout.size(), protection, flags, -1, 0) };
        let start = if start == libc::MAP_FAILED { None } else { NonNull::new(start) };
        let Some(start) = start else { handle_alloc_error(layout) };
        // SAFETY: the range is the one just mapped; the advice changes no contents. It may be
        // refused, and then pages are small.
        unsafe { libc::madvise(start.as_ptr(), layout.size(), libc::MADV_HUGEPAGE) };
        start.cast()
    }

    impl<T: Zeroable> std::ops::Deref for Zeroed<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            // SAFETY: `start` points to so many elements, valid as zeroes, owned by `self`, aligned
            // to cache lines or pages.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }
    }
}

/// A slice of zeroes; loom's atomics are larger than what they stand for and must be constructed.
#[cfg(loom)]
pub(crate) struct Zeroed<T: Zeroable>(Box<[T]>);

#[cfg(loom)]
impl<T: Zeroable> Zeroed<T> {
    pub fn new(len: usize) -> Self {
        Self((0..len).map(|_| T::default()).collect())
    }
}

#[cfg(loom)]
impl<T: Zeroable> Deref for Zeroed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

/// Brings the cache line of something that will be looked at soon.
#[inline]
pub(crate) fn prefetch<T>(it: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    // SAFETY: a prefetch has no effect but on the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(std::ptr::from_ref(it).cast(), _MM_HINT_T0);
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    let _ = it;
}
