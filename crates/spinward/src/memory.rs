//! How much memory there is.

use std::fs;

/// What a check uses if nobody says otherwise: 80% of what is free.
pub fn default_budget() -> u64 {
    free_memory().map_or(u64::MAX, |free| free / 5 * 4).saturating_add(own_memory())
}

/// Bytes that may still be used: what the system has available, or what is left of the control
/// group's share if that is less. None if the system does not say.
pub fn free_memory() -> Option<u64> {
    let available =
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| meminfo_available(&text));
    let group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|text| group_path(&text).map(str::to_owned))
        .and_then(|path| group_free(&path));
    match (available, group) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Bytes this process uses now; 0 if the system does not say.
pub fn own_memory() -> u64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| kilobytes(&text, "VmRSS:"))
        .unwrap_or(0)
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

/// The control group of version 2, from `/proc/self/cgroup`.
fn group_path(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::/"))
}

/// What is left in a control group and all groups around it.
fn group_free(path: &str) -> Option<u64> {
    let read = |group: &str, file: &str| -> Option<u64> {
        fs::read_to_string(format!("/sys/fs/cgroup/{group}/{file}")).ok()?.trim().parse().ok()
    };
    let mut group = path.trim();
    let mut free: Option<u64> = None;
    loop {
        // `max` (no limit) does not parse as a number.
        if let (Some(max), Some(current)) =
            (read(group, "memory.max"), read(group, "memory.current"))
        {
            let left = max.saturating_sub(current);
            free = Some(free.map_or(left, |known| known.min(left)));
        }
        if group.is_empty() {
            return free;
        }
        group = group.rsplit_once('/').map_or("", |(outer, _)| outer);
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
        assert_eq!(group_path("1:name=x:/y\n0::/user.slice/a\n"), Some("user.slice/a"));
    }
}
