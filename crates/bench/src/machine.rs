//! Where and when a run was made, and with what.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// The machine, the programs, and the date.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// When the run began, in UTC: `2026-11-15T16:05:43Z`.
    pub date: String,
    /// The processor.
    pub cpu: Option<String>,
    /// How many programs it can run at a time.
    pub cores: usize,
    /// Its memory, in bytes.
    pub memory: Option<u64>,
    /// How many programs wanted to run when the run began.
    pub load: Option<f64>,
    /// The kernel.
    pub kernel: Option<String>,
    /// SPIN's version.
    pub spin: Option<String>,
    /// The C compiler's version.
    pub gcc: Option<String>,
    /// Our version.
    pub spinward: String,
    /// What the user asked for.
    pub command: Vec<String>,
}

impl Machine {
    /// This machine, now.
    pub fn here(version: &str, command: Vec<String>) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let word = |text: String| text.split_whitespace().next().map(str::to_owned);
        Self {
            date: date(now()),
            cpu: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: field(&read("/proc/meminfo"), "MemTotal").and_then(|text| kilobytes(&text)),
            load: word(read("/proc/loadavg")).and_then(|load| load.parse().ok()),
            kernel: word(read("/proc/sys/kernel/osrelease")),
            spin: first_line("spin", "-V"),
            gcc: first_line("gcc", "--version"),
            spinward: version.to_owned(),
            command,
        }
    }

    /// The date as the name of a folder: `2026-11-15-160543`.
    pub fn folder_name(&self) -> String {
        self.date.trim_end_matches('Z').replace('T', "-").replace(':', "")
    }
}

/// The value of a line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = lines.filter(|(key, _)| key.trim() == name).map(|(_, value)| value);
    values.next().map(|value| value.trim().to_owned())
}

/// The bytes of `24684112 kB`.
fn kilobytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn first_line(program: &str, option: &str) -> Option<String> {
    let output = Command::new(program).arg(option).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// A date and time in UTC.
///
/// The calendar repeats every 400 years; a year is counted from March, so that the leap day is its
/// last (H. Hinnant, *chrono-Compatible Low-Level Date Algorithms*).
fn date(seconds: u64) -> String {
    let (days, time) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(date(1_794_758_743), "2026-11-15T16:05:43Z");
        assert_eq!(date(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn facts_are_read() {
        let text = "processor\t: 0\nmodel name\t: A: fast one\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A: fast one"));
        assert_eq!(field(text, "cores"), None);
        assert_eq!(kilobytes("2 kB"), Some(2048));
        assert_eq!(kilobytes("2"), None);
    }

    #[test]
    fn a_folder_is_named_by_the_date() {
        let mut machine = Machine::here("0", Vec::new());
        machine.date = "2026-11-15T16:05:43Z".into();
        assert_eq!(machine.folder_name(), "2026-11-15-160543");
    }
}
