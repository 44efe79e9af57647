//! The line that tells how far a search is, on a terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spinward::Progress;
use spinward::words::{counted, thousands};

use crate::terminal::{bytes, say};

/// The rate shown is that of about so many seconds: that of a tenth of one would flicker.
const SMOOTHED_OVER: f64 = 2.0;

/// The line; nothing if nobody would see it.
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    rate: Option<f64>,
    reported: Duration,
}

impl ProgressLine {
    /// A line on standard error if it is wanted and that is a terminal.
    pub fn new(wanted: bool) -> Self {
        let bar = (wanted && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, rate: None, reported: Duration::ZERO }
    }

    /// Shows how far the search is.
    pub fn show(&mut self, progress: &Progress) {
        if self.bar.is_none() {
            return;
        }
        let rate = self.smoothed(progress);
        if let Some(bar) = &self.bar {
            // The spinner and a blank come before it. Terminals are made narrower while a search runs.
            let room = Term::stderr().size_checked().map_or(usize::MAX, |(_, width)| width.into());
            bar.set_message(line(progress, rate, room.saturating_sub(2)));
            bar.tick();
        }
    }

    /// States a second, of late. Another search begins anew.
    fn smoothed(&mut self, progress: &Progress) -> f64 {
        let pause = progress.elapsed.checked_sub(self.reported);
        let before = self.rate.filter(|_| pause.is_some());
        let share = (pause.unwrap_or_default().as_secs_f64() / SMOOTHED_OVER).min(1.0);
        let rate = before.map_or(progress.rate, |before| before + share * (progress.rate - before));
        self.rate = Some(rate);
        self.reported = progress.elapsed;
        rate
    }

    /// Says something that stays, above the line, if there is one.
    pub fn remark(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.suspend(|| say(text));
        }
    }

    /// Says something that stays, above the line.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }
}

impl Drop for ProgressLine {
    /// What is said next shall not stand behind the line.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// As much as there is room for, what matters most first.
fn line(progress: &Progress, rate: f64, room: usize) -> String {
    let parts = [
        Some(counted(progress.counts.states, "state")),
        Some(format!("{} s", thousands(progress.elapsed.as_secs()))),
        Some(format!("{} a second", thousands(rate as u64))),
        depth(progress),
        Some(bytes(progress.counts.memory)),
        progress.disk.map(|disk| format!("{} on disk", bytes(disk.bytes))),
        progress.disk.map(|disk| format!("at most {} wait", thousands(disk.waiting))),
        progress.disk.map(|disk| format!("{} found again there", thousands(disk.removed))),
    ];
    let longer =
        |line: String, part: String| if line.is_empty() { part } else { line + ", " + &part };
    parts.into_iter().flatten().fold(String::new(), |line, part| {
        let fits = line.len() + 2 + part.len() <= room;
        if fits || line.is_empty() { longer(line, part) } else { line }
    })
}

/// Where the search is, if it knows: a sweep does not.
fn depth(progress: &Progress) -> Option<String> {
    let depth = thousands(progress.depth);
    match progress.estimate {
        None if progress.depth == 0 => None,
        // From there no error can be reached.
        None | Some(u32::MAX) => Some(format!("depth {depth}")),
        Some(left) => Some(format!("depth {depth} and {} to go", thousands(left.into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress {
        Progress {
            counts: spinward::Counts { states: 12_345, memory: 2_500_000, ..Default::default() },
            depth: 40,
            estimate: None,
            elapsed: Duration::from_secs(3),
            rate: 4000.0,
            best: None,
            met: None,
            disk: None,
        }
    }

    #[test]
    fn a_line_has_what_the_search_knows() {
        let told = |progress: &Progress| line(progress, 4115.0, 80);
        let searching = progress();
        let all = "12,345 states, 3 s, 4,115 a second, depth 40, 2.5 MB";
        assert_eq!(told(&searching), all);
        let guided = Progress { estimate: Some(7), ..searching };
        assert_eq!(told(&guided), all.replace("depth 40", "depth 40 and 7 to go"));
        let sweeping = Progress { depth: 0, ..searching };
        assert_eq!(told(&sweeping), all.replace("depth 40, ", ""));
        assert_eq!(line(&searching, 4115.0, 40), "12,345 states, 3 s, 4,115 a second");
        assert_eq!(line(&searching, 4115.0, 3), "12,345 states");
    }

    #[test]
    fn the_rate_is_smoothed_and_begins_anew_with_each_search() {
        let mut shown = ProgressLine::new(false);
        let first = progress();
        assert_eq!(shown.smoothed(&first), 4000.0);
        let later = Progress { elapsed: Duration::from_secs(4), rate: 8000.0, ..first };
        assert_eq!(shown.smoothed(&later), 6000.0);
        let next = Progress { elapsed: Duration::from_secs(1), rate: 100.0, ..first };
        assert_eq!(shown.smoothed(&next), 100.0);
    }
}
