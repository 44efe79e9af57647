//! How much memory there is.

use std::fs;

use spinward_store::{forget_code, keep_little, trim};

/// What a check uses if nobody says otherwise: 80% of what is free.
pub fn default_budget() -> u64 {
    free_memory().map_or(u64::MAX, |free| free / 5 * 4).saturating_add(own_memory())
}

/// Bytes, of those allowed, that the program will still need for itself: its code is read and
/// steps are compiled only when the search is under way. Where little is allowed it may not suffice.
fn reserve(allowed: u64) -> u64 {
    (7 << 20).min(allowed / 3)
}

/// Where less is allowed, what the allocator keeps of what was freed is too large a part of it.
const LITTLE: u64 = 1 << 30;

/// What is allowed: so much if nobody says otherwise. Where it is little, what is freed goes back to the system at once.
pub(crate) fn allowed(asked: Option<u64>) -> u64 {
    let allowed = asked.unwrap_or_else(default_budget);
    if allowed < LITTLE {
        keep_little();
    }
    allowed
}

/// Bytes for a search, of those allowed, beside what the program itself uses.
pub(crate) fn for_search(allowed: u64, own: u64) -> u64 {
    // The allocator needs some room too: between large keys of many sizes it leaves gaps.
    allowed.saturating_sub(own + reserve(allowed)) / 16 * 15
}

/// Bytes that a search needs for code, about: what it reads again after all was let go, and the steps it compiles.
const CODE: u64 = 7 << 20;

/// Bytes that are needed for a moment when steps are compiled. So much a search with states on disk must have for itself.
const LEAST: u64 = 10 << 20;

/// Bytes for a search with states on disk, of those allowed, when all that it works with was made; the error says how
/// many must be allowed.
pub(crate) fn for_disk(allowed: u64) -> Result<u64, u64> {
    // What compiled steps is not needed any more.
    forget_code();
    trim();
    let own = own_memory();
    // At the beginning it was more, perhaps.
    let least = most_memory().max(own + LEAST);
    if allowed < least {
        return Err(least);
    }
    Ok(left(allowed, own + CODE))
}

/// Bytes that are left of those allowed, where there may be few.
fn left(allowed: u64, used: u64) -> u64 {
    // Much is allocated and freed all the time, and the allocator cannot use all of that again.
    allowed.saturating_sub(used) / 4 * 3
}

/// Bytes for another search in memory, of those allowed, when one has ended: as many as that had, or what is left. It may
/// compile steps once more.
pub(crate) fn for_more(allowed: u64, budget: u64) -> u64 {
    if own_memory() + LEAST + budget <= allowed {
        return budget;
    }
    forget_code();
    trim();
    budget.min(left(allowed, own_memory() + LEAST))
}

/// Bytes that may still be used: what the system has available, or what is left of the control
/// group's share if that is less. None if the system does not say.
pub fn free_memory() -> Option<u64> {
    let available =
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| meminfo_available(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let free_in = |groups_of: &GroupFiles| groups_of.free(groups_of.path(&groups)?);
    [available, free_in(&VERSION_1), free_in(&VERSION_2)].into_iter().flatten().min()
}

/// Bytes this process uses now; 0 if the system does not say.
pub fn own_memory() -> u64 {
    status("VmRSS:")
}

/// The most bytes this process used at a time; 0 if the system does not say.
fn most_memory() -> u64 {
    status("VmHWM:")
}

fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").ok();
    text.and_then(|text| kilobytes(&text, name)).unwrap_or(0)
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn meminfo_available(text: &str) -> Option<u64> {
    kilobytes(text, "MemAvailable:")
}

/// The value of a line `Name:   123 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// Where a version of control groups says what it allows.
struct GroupFiles {
    /// How `/proc/self/cgroup` names the group, behind a number.
    prefix: &'static str,
    root: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// In `memory.stat`: what of the usage are files that the kernel drops when memory is needed.
    files: &'static str,
}

const VERSION_1: GroupFiles = GroupFiles {
    prefix: "memory:/",
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    files: "total_inactive_file ",
};

const VERSION_2: GroupFiles = GroupFiles {
    prefix: ":/",
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    usage: "memory.current",
    files: "inactive_file ",
};

impl GroupFiles {
    /// The group of this process, from `/proc/self/cgroup`.
    fn path<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.lines().find_map(|line| line.split_once(':')?.1.strip_prefix(self.prefix))
    }

    /// What is left in a group and all groups around it.
    fn free(&self, path: &str) -> Option<u64> {
        let mut group = path.trim();
        let mut free: Option<u64> = None;
        loop {
            if let Some(left) = self.left(&format!("{}/{group}", self.root)) {
                free = Some(free.map_or(left, |known| known.min(left)));
            }
            if group.is_empty() {
                return free;
            }
            group = group.rsplit_once('/').map_or("", |(outer, _)| outer);
        }
    }

    /// What is left in the group of this folder, if it has a limit.
    fn left(&self, folder: &str) -> Option<u64> {
        let read = |file: &str| fs::read_to_string(format!("{folder}/{file}")).ok();
        // `max` (no limit) does not parse as a number.
        let limit: u64 = read(self.limit)?.trim().parse().ok()?;
        let usage: u64 = read(self.usage)?.trim().parse().ok()?;
        let statistics = read("memory.stat").unwrap_or_default();
        let files = statistics.lines().find_map(|line| line.strip_prefix(self.files));
        let files = files.and_then(|number| number.trim().parse().ok()).unwrap_or(0);
        Some(limit.saturating_sub(usage.saturating_sub(files)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let text = "MemTotal:       1000 kB\nMemAvailable:   2000 kB\n";
        assert_eq!(meminfo_available(text), Some(2000 * 1024));
        assert_eq!(meminfo_available("MemTotal: 1 kB"), None);
        let groups = "4:memory:/job/7\n1:name=x:/y\n0::/user.slice/a\n";
        assert_eq!(VERSION_1.path(groups), Some("job/7"));
        assert_eq!(VERSION_2.path(groups), Some("user.slice/a"));
        assert_eq!(VERSION_1.path("0::/"), None);
    }

    #[test]
    fn a_later_search_has_no_more_than_is_left() {
        let budget = 1 << 30;
        assert_eq!(for_more(own_memory() + LEAST + budget + (64 << 20), budget), budget);
        let allowed = own_memory() + LEAST + budget / 2;
        assert!((1..budget).contains(&for_more(allowed, budget)));
    }

    #[test]
    fn what_a_group_allows() {
        let folder = std::env::temp_dir().join(format!("spinward-group-{}", std::process::id()));
        let write = |file: &str, text: &str| fs::write(folder.join(file), text).unwrap();
        let left = || VERSION_2.left(&folder.display().to_string());
        assert_eq!(left(), None);
        fs::create_dir(&folder).unwrap();
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        assert_eq!(left(), Some(300));
        write("memory.stat", "file 600\ninactive_file 500\nactive_file 100\n");
        assert_eq!(left(), Some(800));
        write("memory.current", "2000\n");
        assert_eq!(left(), Some(0));
        write("memory.max", "max\n");
        assert_eq!(left(), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
