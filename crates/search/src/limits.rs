//! What a search may use.
//!
//! Each limit ends a search cleanly: what was found stays found, and the [`Limit`] says what ended
//! it. Memory is counted before it is taken, so that the budget is never exceeded.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use spinward_machine::{Flow, Stop};
use spinward_store::{Budget, Full, OutOfMemory};

use crate::outcome::{Counts, OnDisk, Progress};

/// What a search may use; by default everything.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Runs of at most so many steps are looked at.
    pub max_depth: Option<u64>,
    /// So many states are visited.
    pub max_states: Option<u64>,
    /// Time.
    pub time: Option<Duration>,
    /// Bytes for states, stacks and queues.
    pub memory: Option<u64>,
    /// Told from outside: give up. The system may look at it too, and then breaks off an expansion.
    /// A search whose time is over asks the system for that, and takes it back.
    pub stop: Arc<Stop>,
}

impl Limits {
    /// Does something that must not be given up, though the search was.
    pub(crate) fn undisturbed<T>(&self, work: impl FnOnce() -> T) -> T {
        self.stop.undisturbed(work)
    }
}

/// What ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`Limits::max_states`]
    States,
    /// [`Limits::time`]
    Time,
    /// [`Limits::memory`]
    Memory,
    /// [`Limits::stop`]
    Interrupt,
    /// More states than can be numbered.
    Numbers,
    /// More states than fit into a table of fixed size.
    Table,
    /// A file that cannot be read or written, or is not as it was written.
    Disk,
}

/// A share in the budget of memory.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Budget>);

impl Memory {
    /// So many bytes; none: no end.
    pub fn new(limit: Option<u64>) -> Self {
        Self(Arc::new(Budget::new(limit)))
    }

    /// What stores take their memory from.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.0
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.0.used()
    }

    /// Bytes that may still be taken.
    pub fn left(&self) -> u64 {
        self.0.limit().saturating_sub(self.used())
    }

    /// The most bytes that were in use at a time.
    pub fn peak(&self) -> u64 {
        self.0.peak()
    }

    /// To be called before so many bytes are allocated.
    pub fn take(&self, bytes: u64) -> Result<(), Limit> {
        Ok(self.0.take(bytes)?)
    }

    /// To be called when so many bytes, not counted otherwise, are in use for the moment.
    pub fn lend(&self, bytes: u64) -> Result<(), Limit> {
        Ok(self.0.lend(bytes)?)
    }

    /// To be called after so many bytes were freed.
    pub fn give_back(&self, bytes: u64) {
        self.0.give_back(bytes);
    }
}

impl From<OutOfMemory> for Limit {
    fn from(_: OutOfMemory) -> Self {
        Self::Memory
    }
}

impl From<Full> for Limit {
    fn from(full: Full) -> Self {
        match full {
            Full::Memory => Self::Memory,
            Full::Numbers => Self::Numbers,
            Full::Table => Self::Table,
        }
    }
}

/// When to give up: at a time, or when told to.
#[derive(Clone, Copy)]
pub(crate) struct Clock<'a> {
    stop: &'a Stop,
    deadline: Option<Instant>,
}

impl Clock<'_> {
    /// Whether there is time left.
    pub fn check(self) -> Result<(), Limit> {
        let late = |deadline| Instant::now() >= deadline;
        if self.stop.is_told() || self.deadline.is_some_and(late) {
            return Err(self.reason());
        }
        Ok(())
    }

    /// What broke an expansion off, if anything did: a limit that the search hit, or the system gave
    /// up because it was told to.
    pub fn broken_off(self, limit: Option<Limit>, flow: Flow) -> Result<(), Limit> {
        match limit {
            Some(limit) => Err(limit),
            None if flow.is_break() => Err(self.reason()),
            None => Ok(()),
        }
    }

    /// Why the search is over, after it was told so or the system gave up.
    fn reason(self) -> Limit {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Limit::Time,
            _ => Limit::Interrupt,
        }
    }
}

/// Looks at the clock and the stop flag now and then, and reports progress.
pub(crate) struct Watch<'a> {
    clock: Clock<'a>,
    started: Instant,
    /// Held for what its end does.
    _alarm: Option<Alarm>,
    progress: &'a mut dyn FnMut(&Progress),
    /// Until the next look.
    countdown: u32,
    reported: Instant,
    reported_states: u64,
    estimate: Option<u32>,
    best: Option<u32>,
    /// What is on disk, if anything is.
    pub disk: Option<OnDisk>,
}

impl<'a> Watch<'a> {
    /// Expansions between two looks at the clock.
    const PATIENCE: u32 = 64;

    /// Between two reports.
    const INTERVAL: Duration = Duration::from_millis(100);

    pub fn new(limits: &'a Limits, progress: &'a mut dyn FnMut(&Progress)) -> Self {
        Self::without_alarm(limits, progress).with_alarm(limits)
    }

    /// Breaks an expansion off when the time is over, from now on.
    pub fn with_alarm(self, limits: &Limits) -> Self {
        let alarm = self.clock.deadline.map(|at| Alarm::new(at, limits.stop.clone()));
        Self { _alarm: alarm, ..self }
    }

    /// For one of several searches, whose time must not end that of the others, and for what must not be broken off.
    pub fn without_alarm(limits: &'a Limits, progress: &'a mut dyn FnMut(&Progress)) -> Self {
        let started = Instant::now();
        let deadline = limits.time.and_then(|time| started.checked_add(time));
        Self {
            clock: Clock { stop: &limits.stop, deadline },
            started,
            _alarm: None,
            progress,
            countdown: 0,
            reported: started,
            reported_states: 0,
            estimate: None,
            best: None,
            disk: None,
        }
    }

    /// For threads that look at the clock themselves.
    pub fn clock(&self) -> Clock<'a> {
        self.clock
    }

    /// Notes how far from an error the state seems that is to be expanded.
    pub fn note_estimate(&mut self, estimate: u32) {
        self.estimate = Some(estimate);
    }

    /// To be called for every expansion.
    pub fn tick(&mut self, counts: &Counts, depth: u32, memory: &Memory) -> Result<(), Limit> {
        if self.countdown > 0 {
            self.countdown -= 1;
            return Ok(());
        }
        self.countdown = Self::PATIENCE;
        self.clock.check()?;
        self.report(counts, depth, memory);
        Ok(())
    }

    /// Reports progress if it is time to.
    pub fn report(&mut self, counts: &Counts, depth: u32, memory: &Memory) {
        if self.reported.elapsed() >= Self::INTERVAL {
            self.report_now(counts, depth, memory);
        }
    }

    /// Reports that a run of so many steps was found, the best so far.
    pub fn report_best(&mut self, steps: u32, counts: &Counts, memory: &Memory) {
        self.best = Some(steps);
        self.report_now(counts, steps, memory);
    }

    fn report_now(&mut self, counts: &Counts, depth: u32, memory: &Memory) {
        let now = Instant::now();
        // At the very beginning no time has passed.
        let pause = (now - self.reported).max(Duration::from_micros(1));
        (self.progress)(&Progress {
            counts: Counts { memory: memory.used(), ..*counts },
            depth: depth.into(),
            estimate: self.estimate,
            elapsed: now - self.started,
            rate: (counts.states - self.reported_states) as f64 / pause.as_secs_f64(),
            best: self.best,
            met: None,
            disk: self.disk,
        });
        self.reported = now;
        self.reported_states = counts.states;
    }

    /// What broke an expansion off, if anything did.
    pub fn broken_off(&self, limit: Option<Limit>, flow: Flow) -> Result<(), Limit> {
        self.clock.broken_off(limit, flow)
    }
}

/// Asks to stop at a given time, unless it is dropped before; takes it back when it is dropped. A
/// single expansion may take long (an atomic sequence without end), so the search cannot wait for
/// it to end to look at the clock.
struct Alarm {
    stop: Arc<Stop>,
    cancel: Option<Sender<()>>,
    /// Tells whether it asked.
    thread: Option<JoinHandle<bool>>,
}

impl Alarm {
    fn new(deadline: Instant, stop: Arc<Stop>) -> Self {
        let (cancel, cancelled) = mpsc::channel::<()>();
        let asked = stop.clone();
        let thread = std::thread::Builder::new()
            .name("alarm".into())
            .spawn(move || {
                let left = deadline.saturating_duration_since(Instant::now());
                match cancelled.recv_timeout(left) {
                    Err(RecvTimeoutError::Timeout) => {
                        asked.ask();
                        true
                    }
                    _ => false,
                }
            })
            // Without a thread the clock is still looked at between expansions.
            .ok();
        Self { stop, cancel: Some(cancel), thread }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.cancel = None;
        let fired = self.thread.take().is_some_and(|it| it.join().unwrap_or(false));
        if fired {
            self.stop.take_back();
        }
    }
}

/// A bound on the length of runs as the searches count it; the last number stands for all lengths
/// beyond.
pub(crate) fn bound(limits: &Limits) -> u32 {
    let bound = limits.max_depth.unwrap_or(u64::MAX);
    u32::try_from(bound).map_or(MAX_LENGTH, |bound| bound.min(MAX_LENGTH))
}

/// Goes on unless a limit was hit, which is noted.
pub(crate) fn unless_hit(result: Result<(), Limit>, limit: &mut Option<Limit>) -> Flow {
    match result {
        Ok(()) => Flow::Continue(()),
        Err(hit) => {
            *limit = Some(hit);
            Flow::Break(())
        }
    }
}

/// The longest run that is told from longer ones; one bit is left for other uses.
pub(crate) const MAX_LENGTH: u32 = u32::MAX >> 1;

/// The length of a run that goes on.
pub(crate) fn longer(length: u32, by: usize) -> u32 {
    u32::try_from(by).map_or(MAX_LENGTH, |by| length.saturating_add(by).min(MAX_LENGTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_asks_to_stop_and_takes_it_back() {
        let limits = Limits { time: Some(Duration::from_millis(5)), ..Limits::default() };
        let mut progress = |_: &Progress| {};
        let watch = Watch::new(&limits, &mut progress);
        while !limits.stop.is_told() {
            std::thread::yield_now();
        }
        assert_eq!(watch.clock().reason(), Limit::Time);
        drop(watch);
        assert!(!limits.stop.is_told());
    }

    #[test]
    fn what_the_user_asks_for_stays() {
        let limits = Limits { time: Some(Duration::from_secs(1000)), ..Limits::default() };
        limits.stop.ask();
        let mut progress = |_: &Progress| {};
        let mut watch = Watch::new(&limits, &mut progress);
        let result = watch.tick(&Counts::default(), 0, &Memory::new(None));
        assert_eq!(result, Err(Limit::Interrupt));
        drop(watch);
        limits.undisturbed(|| assert!(!limits.stop.is_told()));
        assert!(limits.stop.is_told());
    }

    #[test]
    fn lengths_do_not_wrap() {
        assert_eq!(longer(3, 4), 7);
        assert_eq!(longer(MAX_LENGTH - 1, 5), MAX_LENGTH);
        assert_eq!(longer(0, usize::MAX), MAX_LENGTH);
    }
}
