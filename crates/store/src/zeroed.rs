//! Memory that starts as zeroes, and hints to the processor: the unsafe code of this crate.

#![allow(unsafe_code, reason = "each block says why it is sound")]

#[cfg(loom)]
use std::ops::Deref;

use crate::sync::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// A type of which all-zero bytes are a value, equal to its default; and one that needs no drop.
///
/// # Safety
/// Both must be true.
pub(crate) unsafe trait Zeroable: Default + Sync + Send {}

// SAFETY: atomics have the representation of their integers.
unsafe impl Zeroable for AtomicU8 {}
// SAFETY: as above.
unsafe impl Zeroable for AtomicU16 {}
// SAFETY: as above.
unsafe impl Zeroable for AtomicU32 {}
// SAFETY: as above.
unsafe impl Zeroable for AtomicU64 {}
// SAFETY: an integer.
unsafe impl Zeroable for u64 {}

/// A slice of zeroes on the heap, in whole cache lines.
#[cfg(not(loom))]
pub(crate) struct Zeroed<T: Zeroable> {
    start: std::ptr::NonNull<T>,
    len: usize,
    /// What it is a part of; none: an allocation of its own.
    #[cfg(all(target_os = "linux", not(miri)))]
    mapping: Option<std::sync::Arc<huge_pages::Mapping>>,
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
            Self::try_new(len).unwrap_or_else(|| handle_alloc_error(Self::layout(len)))
        }

        /// So many zeroes, at least one, if the system gives them.
        pub fn try_new(len: usize) -> Option<Self> {
            let layout = Self::layout(len);
            assert!(layout.size() > 0);
            #[cfg(all(target_os = "linux", not(miri)))]
            if layout.size() >= super::huge_pages::SMALLEST {
                let (start, mapping) = super::huge_pages::take(layout.size())?;
                return Some(Self { start: start.cast(), len, mapping: Some(mapping) });
            }
            // SAFETY: the size is not zero.
            let start = unsafe { alloc_zeroed(layout) };
            Some(Self {
                start: NonNull::new(start.cast())?,
                len,
                #[cfg(all(target_os = "linux", not(miri)))]
                mapping: None,
            })
        }

        /// So many zeroes, at least one, if the system gives them, for one who looks at few of them, anywhere: in small
        /// pages, since a page is cleared as a whole when it is touched.
        pub fn try_scattered(len: usize) -> Option<Self> {
            #[cfg(all(target_os = "linux", not(miri)))]
            if Self::layout(len).size() >= super::huge_pages::HUGE_PAGE {
                let bytes = Self::layout(len).size();
                let mapping = super::huge_pages::Mapping::new(bytes, libc::MADV_NOHUGEPAGE)?;
                let (start, mapping) = (mapping.start.cast(), Some(std::sync::Arc::new(mapping)));
                return Some(Self { start, len, mapping });
            }
            Self::try_new(len)
        }

        fn layout(len: usize) -> Layout {
            let layout = Layout::array::<T>(len).and_then(|layout| layout.align_to(64));
            layout.unwrap_or_else(|_| panic!("{len} elements do not fit into the address space"))
        }
    }

    impl<T: Zeroable> Drop for Zeroed<T> {
        fn drop(&mut self) {
            #[cfg(all(target_os = "linux", not(miri)))]
            if self.mapping.is_some() {
                return;
            }
            // SAFETY: `new` allocated it with this layout; the elements need no drop.
            unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) };
        }
    }

    impl<T: Zeroable> std::ops::DerefMut for Zeroed<T> {
        #[inline]
        fn deref_mut(&mut self) -> &mut [T] {
            // SAFETY: as for `deref`; nobody else has them.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
        }
    }

    impl<T: Zeroable> std::ops::Deref for Zeroed<T> {
        type Target = [T];

        #[inline]
        fn deref(&self) -> &[T] {
            // SAFETY: `start` points to so many elements, valid as zeroes, owned by `self` and
            // aligned to cache lines.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }
    }
}

/// So many zeroes, a number that the compiler knows.
pub(crate) struct Block<const N: usize>(Zeroed<u64>);

impl<const N: usize> Block<N> {
    /// All of them zero, if the system gives them.
    pub fn try_new() -> Option<Self> {
        Zeroed::try_new(N).map(Self)
    }
}

impl<const N: usize> std::ops::Deref for Block<N> {
    type Target = [u64; N];

    #[inline(always)]
    fn deref(&self) -> &[u64; N] {
        debug_assert_eq!(self.0.len(), N);
        // SAFETY: it was made with so many.
        unsafe { &*self.0.as_ptr().cast() }
    }
}

impl<const N: usize> std::ops::DerefMut for Block<N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64; N] {
        // SAFETY: as above; nobody else has them.
        unsafe { &mut *self.0.as_mut_ptr().cast() }
    }
}

/// Memory in huge pages, which spare most misses of the address cache.
///
/// Slices are cut one after the other from mappings that hold many, so that also slices smaller
/// than a page share huge ones. What of a mapping is not handed out yet is not touched; so at most
/// one huge page, [`HUGE_PAGE`](huge_pages::HUGE_PAGE), is in memory without being counted. A mapping goes when all
/// slices of it are gone: who frees some of them while others stay should have taken them [apart](Apart).
#[cfg(all(target_os = "linux", not(miri), not(loom)))]
mod huge_pages {
    use std::ptr::NonNull;
    use std::sync::{Arc, Mutex, PoisonError, Weak};

    /// Smaller slices are not worth the while.
    pub const SMALLEST: usize = 1 << 14;

    pub const HUGE_PAGE: usize = 2 << 20;

    /// Address space asked for at a time.
    const MAPPING: usize = 16 * HUGE_PAGE;

    /// Address space of our own, given back when the last slice of it is dropped.
    pub struct Mapping {
        pub start: NonNull<u8>,
        len: usize,
    }

    // SAFETY: it only owns the address space; who may use which part is up to the slices.
    unsafe impl Send for Mapping {}
    // SAFETY: as above.
    unsafe impl Sync for Mapping {}

    static PRESENT: Mutex<Present> = Mutex::new((Weak::new(), 0));

    /// So many zeroes that nobody else has, aligned to cache lines, and what they are a part of.
    pub fn take(len: usize) -> Option<(NonNull<u8>, Arc<Mapping>)> {
        let len = len.next_multiple_of(64);
        if len >= MAPPING {
            let mapping = Mapping::new(len, libc::MADV_HUGEPAGE)?;
            return Some((mapping.start, Arc::new(mapping)));
        }
        let mut present = PRESENT.lock().unwrap_or_else(PoisonError::into_inner);
        let (mapping, used) = &mut *present;
        let mapping = match mapping.upgrade() {
            Some(it) if it.len - *used >= len => it,
            _ => {
                let new = Arc::new(Mapping::new(MAPPING, libc::MADV_HUGEPAGE)?);
                (*mapping, *used) = (Arc::downgrade(&new), 0);
                new
            }
        };
        // SAFETY: the mapping has `len` bytes more than were handed out.
        let start = unsafe { mapping.start.add(*used) };
        *used += len;
        Some((start, mapping))
    }

    /// The mapping that is handed out at present, and how much of it was.
    pub type Present = (Weak<Mapping>, usize);

    /// Does something whose slices are in other mappings: the one that is left there, and more.
    pub fn within<T>(place: &mut Present, work: impl FnOnce() -> T) -> T {
        // Moved, and so never handed out twice.
        let exchange = |place: &mut Present| {
            std::mem::swap(place, &mut *PRESENT.lock().unwrap_or_else(PoisonError::into_inner));
        };
        exchange(place);
        let done = work();
        exchange(place);
        done
    }

    impl Mapping {
        /// So many zeroes, with advice as to the size of pages.
        pub fn new(len: usize, advice: libc::c_int) -> Option<Self> {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a new private mapping touches no memory that is in use.
            let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
            if start == libc::MAP_FAILED {
                return None;
            }
            // SAFETY: the range is the one just mapped; the advice changes no contents. It may be
            // refused, and then pages are as the system likes.
            unsafe { libc::madvise(start, len, advice) };
            Some(Self { start: NonNull::new(start.cast())?, len })
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: it was mapped with this length, and the last slice of it is gone.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
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

    pub fn try_new(len: usize) -> Option<Self> {
        Some(Self::new(len))
    }

    pub fn try_scattered(len: usize) -> Option<Self> {
        Some(Self::new(len))
    }
}

#[cfg(loom)]
impl<T: Zeroable> Deref for Zeroed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

#[cfg(loom)]
impl<T: Zeroable> std::ops::DerefMut for Zeroed<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// Brings the cache line of an address that will be looked at soon; if there is nothing, nothing happens.
#[inline]
pub(crate) fn prefetch<T>(it: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    // SAFETY: a prefetch has no effect but on the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(it.cast(), _MM_HINT_T0);
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    let _ = it;
}

/// Which of sixteen bytes equal `byte`, as bits.
#[inline(always)]
pub(crate) fn equal(bytes: [u64; 2], byte: u8) -> u32 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every processor of this kind has these instructions.
    unsafe {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
        let bytes = _mm_set_epi64x(bytes[1] as i64, bytes[0] as i64);
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u32
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        // The top bits of all bytes, gathered by a multiplication.
        let gather = |marks: u64| ((marks >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32;
        let equal = |word| gather(crate::index::equal_bytes(word, byte));
        equal(bytes[0]) | equal(bytes[1]) << 8
    }
}

/// Where slices are that shall leave the process when all of them are dropped, whatever else is there still.
#[derive(Default)]
pub struct Apart {
    #[cfg(all(target_os = "linux", not(miri), not(loom)))]
    present: huge_pages::Present,
}

impl Apart {
    /// Does something whose slices are there.
    pub fn within<T>(&mut self, work: impl FnOnce() -> T) -> T {
        #[cfg(all(target_os = "linux", not(miri), not(loom)))]
        return huge_pages::within(&mut self.present, work);
        #[cfg(not(all(target_os = "linux", not(miri), not(loom))))]
        work()
    }
}

/// Does something, and gives all memory that it has freed back to the system.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    let done = Apart::default().within(work);
    trim();
    done
}

/// Lets go of all code that is in memory. What runs is read again at once, from what the system has of the file; what was
/// needed at the beginning only, to compile steps above all, is not.
pub fn forget_code() {
    #[cfg(all(target_os = "linux", not(miri)))]
    for (start, bytes) in code(&std::fs::read_to_string("/proc/self/smaps").unwrap_or_default()) {
        // SAFETY: nobody can write to these pages, nor did anybody, so that they are as in the file they come from.
        unsafe {
            libc::madvise(start as *mut libc::c_void, bytes, libc::MADV_DONTNEED);
        }
    }
}

/// Where code is that comes from a file as it is, of what the system says of all memory.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only asked for on Linux"))]
fn code(text: &str) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut place = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [range, "r-xp", _, _, _, path, ..] if path.starts_with('/') => place = range_of(range),
            [_, rights, _, _, inode, ..] if rights.len() == 4 && inode != "kB" => place = None,
            // Nobody changed it, a debugger for example.
            ["Anonymous:", "0", "kB"] => all.extend(place.take()),
            _ => {}
        }
    }
    all
}

/// `55d0a000-55d0b000`: where it begins, and how many bytes it has.
fn range_of(text: &str) -> Option<(usize, usize)> {
    let (start, end) = text.split_once('-')?;
    let [start, end] = [start, end].map(|it| usize::from_str_radix(it, 16).ok());
    Some((start?, end?.checked_sub(start?)?))
}

/// Has the allocator keep no more than this of what a thread has freed. Left to itself it keeps up to 64 MB for each, and
/// [`trim`] takes it from the first thread only.
#[cfg_attr(not(target_env = "gnu"), allow(dead_code, reason = "only glibc is told"))]
const KEPT_BY_ALLOCATOR: i32 = 1 << 20;

/// Has the allocator give back at once what is freed in large pieces. That costs time, and is for who has little memory.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: only sets when memory that is free is given back.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BY_ALLOCATOR);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BY_ALLOCATOR);
    }
}

/// Gives memory that was freed back to the system, which the allocator may keep for itself.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: only memory that is free is touched.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_nobody_changed_of_files_that_run() {
        let map = |range: &str, rights: &str, path: &str, changed: u32| {
            format!(
                "{range} {rights} 00001000 fe:00 77    {path}\nRss:  8 kB\nAnonymous:  {changed} kB\nVmFlags: rd ex mr mw me\n"
            )
        };
        let text = [
            map("1000-3000", "r-xp", "/bin/it", 0),
            map("3000-4000", "r--p", "/bin/it", 0),
            map("5000-6000", "r-xp", "", 0),
            map("7000-8000", "r-xp", "/bin/other", 4),
            map("ff00-ffff", "r-xp", "/a b", 0),
        ];
        assert_eq!(code(&text.concat()), [(0x1000, 0x2000), (0xff00, 0xff)]);
        assert_eq!(code("nonsense"), []);
    }

    #[test]
    fn what_was_forgotten_still_runs() {
        forget_code();
        trim();
        assert_eq!("still".len(), 5);
    }
}
