//! A guide that is made while a search goes by another one.
//!
//! To make an image of a model may take longer than the search that it is for. So it is made bit by bit: what a search has done
//! allows for half as much work. Until the image is there, the search goes by `formula`, which takes no time to make; then by
//! the larger of the two, and it ranks anew what waits. `dpa` is made in two stages, so that a small image is there long before
//! the other; what a search that goes by it has done allows for less. An image that is not finished, as time or memory came to an
//! end, is not used.
//!
//! *Properties*: admissible and consistent, as both are and their maximum is. Whether the image is there when a state is
//! estimated depends on what the search has counted, and on no clock, unless time or memory ended the making: how much memory is in
//! use is measured, and may differ from one run to the next.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::meter::Meter;
use crate::patience::NOT_NEEDED;
use crate::{Guide, Misfit, NEVER, Patience, Room, Subject, Wanted, Way, dpa, max, pdb};

/// What may be done before a search has begun: it takes up to a tenth of a second. Models of BEEM are made into images at 140 to 500
/// million moves of parts in a second, and taken apart at 80 or more.
const FREE: u64 = 1 << 23;

/// What each move that a search looks at allows for: up to half of the time that it takes. A search by the other guide looks at 1 to 8
/// million of them in a second; where it is fast, images are not made fast either.
const BY_MOVE: u64 = 12;

/// The same where there is an image already: a larger one often tells little more.
const BY_GUIDED_MOVE: u64 = 3;

/// How often a guide is there, each time a better one, at most.
const STAGES: usize = 2;

/// The guide that a search goes by meanwhile.
const MEANWHILE: &str = "formula";

/// When it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// As far as it may be, at once. Whether it fits is told, if that was found out.
    Now,
    /// When it is asked for the first time.
    WhenAsked,
}

/// A guide that is made bit by bit.
pub struct Growing<'g, 'm> {
    wanted: &'g Wanted,
    meanwhile: Box<dyn Guide + 'm>,
    made: &'g Made<'m>,
    meter: &'g Meter,
    is_consistent: bool,
    begun: Once,
    /// [`ASLEEP`], or [`AWAKE`] and how many stages are gone by.
    stage: AtomicUsize,
    /// The moves of the search when it was last asked for more, and the work that they allowed for.
    granted: Mutex<(u64, u64)>,
    nanoseconds: AtomicU64,
    notes: OnceLock<Vec<String>>,
}

/// What came of making a guide, as far as that is known.
#[derive(Default)]
struct Made<'m> {
    stages: [OnceLock<Box<dyn Guide + 'm>>; STAGES],
    /// Whether the last of them is there, or why there will be no more.
    end: OnceLock<Result<(), Unmade>>,
}

impl<'m> Made<'m> {
    /// How many stages are there.
    fn count(&self) -> usize {
        self.stages.iter().take_while(|it| it.get().is_some()).count()
    }

    fn add(&self, guide: Box<dyn Guide + 'm>) {
        if let Some(next) = self.stages.get(self.count()) {
            let _ = next.set(guide);
        }
    }

    fn end(&self, how: Result<(), Unmade>) {
        let _ = self.end.set(how);
    }
}

/// Why there is no guide.
enum Unmade {
    Misfit(Misfit),
    /// It is not there, or not as good as it would be.
    GivenUp(&'static str),
}

/// Nothing was asked yet; the other guide answers.
const ASLEEP: usize = 0;
const AWAKE: usize = 1;

impl Wanted {
    /// Whether it takes long to make, and nothing was said about how much may be spent on it.
    pub fn grows(&self) -> bool {
        let is_image = |it: &Self| [dpa::ENTRY.name, pdb::ENTRY.name].contains(&it.entry.name);
        if self.entry.name != max::ENTRY.name {
            return is_image(self) && self.argument.is_none();
        }
        let parts = max::parse(self.argument().unwrap_or_default()).unwrap_or_default();
        // One that is no larger than usual takes no longer.
        let is_small = |it: &Self| match it.argument() {
            None => it.entry.consistent,
            Some(argument) if it.entry.name == dpa::ENTRY.name => dpa::is_small(argument),
            Some(argument) => it.entry.name == pdb::ENTRY.name && pdb::is_small(argument),
        };
        parts.iter().any(Self::grows) && parts.iter().all(is_small)
    }

    /// Has a search go by it while it is made. If memory is limited, it may take so many bytes.
    pub fn grow<R>(
        &self,
        subject: &Subject<'_>,
        begin: Begin,
        bytes: u64,
        search: impl FnOnce(&Growing<'_, '_>) -> R,
    ) -> Result<R, Misfit> {
        let used = subject.patience.memory.map(|it| it.0);
        let memory = used.map(|used| (used, used().saturating_add(bytes)));
        let meter = Meter::new(used);
        let made = Made::default();
        let patience = Patience { meter: Some(&meter), memory, ..subject.patience };
        let subject = Subject { patience, ..*subject };
        let growing = Growing {
            wanted: self,
            meanwhile: MEANWHILE.parse::<Self>()?.build(&subject)?,
            made: &made,
            meter: &meter,
            is_consistent: !subject.symmetric,
            begun: Once::new(),
            stage: AtomicUsize::new(ASLEEP),
            granted: Mutex::new((0, FREE)),
            nanoseconds: AtomicU64::new(0),
            notes: OnceLock::new(),
        };
        std::thread::scope(|scope| {
            let _end = End(&meter);
            let make = || {
                let _end = End(&meter);
                // It begins when something is granted.
                if meter.spend(1) {
                    let gave_up = || subject.patience.gave_up();
                    let tell = |guide| {
                        if gave_up().is_none() {
                            made.add(guide);
                        }
                    };
                    let is_dpa = self.entry.name == dpa::ENTRY.name;
                    let built = match is_dpa && self.argument.is_none() {
                        true => dpa::in_stages(&subject, tell),
                        false => self.build(&subject),
                    };
                    let built = built.map_err(Unmade::Misfit);
                    made.end(match gave_up() {
                        Some(why) => Err(Unmade::GivenUp(why)),
                        None => built.map(|guide| made.add(guide)),
                    });
                }
            };
            if Builder::new().name("guide".into()).spawn_scoped(scope, make).is_err() {
                made.end(Err(Unmade::GivenUp("as there is no thread for that")));
                meter.end();
            }
            if begin == Begin::Now {
                growing.begin();
                if let Some(Err(Unmade::Misfit(misfit))) = made.end.get() {
                    return Err(misfit.clone());
                }
            }
            Ok(search(&growing))
        })
    }
}

/// Ends what is granted, whatever happens.
struct End<'g>(&'g Meter);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Growing<'_, '_> {
    /// How long others had to wait for it.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }

    /// Whether it is still to be made, or to go on being made.
    pub fn goes_on(&self) -> bool {
        self.made.end.get().is_none()
    }

    /// Does what may be done before a search.
    fn begin(&self) {
        self.begun.call_once(|| {
            self.grant(FREE);
            self.improve();
        });
    }

    /// Has it made as far as so much work goes.
    fn grant(&self, work: u64) {
        let begun = Instant::now();
        self.meter.grant(work);
        self.nanoseconds.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// How many stages are gone by; none if it was not asked for anything yet.
    fn stages(&self) -> Option<usize> {
        self.stage.load(Ordering::Acquire).checked_sub(AWAKE)
    }

    /// What is gone by of that which is wanted, if anything.
    fn grown(&self) -> Option<&dyn Guide> {
        let last = self.stages()?.checked_sub(1)?;
        self.made.stages[last].get().map(|it| &**it)
    }

    /// Whether all is gone by.
    fn is_grown(&self) -> bool {
        matches!(self.made.end.get(), Some(Ok(()))) && self.stages() == Some(self.made.count())
    }

    /// Why it does not answer.
    fn why_not(&self) -> String {
        let guide = self.wanted;
        match self.made.end.get() {
            Some(Err(Unmade::Misfit(misfit))) => format!("{misfit}"),
            Some(Err(Unmade::GivenUp(why))) if *why != NOT_NEEDED => {
                format!("the guide '{guide}' was not made, {why}")
            }
            Some(Ok(())) => {
                format!(
                    "the guide '{guide}' was not used: to rank anew what waits takes more memory than there is"
                )
            }
            // It may have seen by now that the search has ended, or not.
            Some(Err(Unmade::GivenUp(_))) | None => {
                let most = if self.stages() == Some(0) { "half" } else { "an eighth" };
                format!(
                    "the guide '{guide}' was not made: that takes longer than {most} of the search"
                )
            }
        }
    }
}

impl Guide for Growing<'_, '_> {
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        if self.stage.load(Ordering::Acquire) == ASLEEP {
            self.begin();
        }
        let by_wanted = self.grown().map_or(0, |it| it.estimate(state, way, room));
        match by_wanted {
            NEVER => NEVER,
            _ => by_wanted.max(self.meanwhile.estimate_above(by_wanted, state, way, room)),
        }
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        self.is_consistent
    }

    fn rules_out(&self) -> bool {
        self.grown().is_some_and(|it| it.rules_out())
    }

    fn is_better_after(&self, moves: u64) -> bool {
        let Some(stages) = self.stages().filter(|_| !self.is_grown()) else {
            return false;
        };
        let by_move = if stages == 0 { BY_MOVE } else { BY_GUIDED_MOVE };
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, work) = *granted;
        let more = moves.saturating_sub(before).saturating_mul(by_move);
        *granted = (moves.max(before), work.saturating_add(more));
        self.grant(granted.1);
        self.made.count() > stages
    }

    fn improve(&self) {
        self.stage.store(AWAKE + self.made.count(), Ordering::Release);
    }

    fn notes(&self) -> &[String] {
        let grown = self.grown();
        if let Some(grown) = grown.filter(|_| self.is_grown()) {
            return grown.notes();
        }
        if self.stages().is_none() {
            return &[];
        }
        let instead = match grown {
            Some(_) => "a small image".to_owned(),
            None => format!("'{MEANWHILE}'"),
        };
        let why = || vec![format!("{}; the search went by {instead}", self.why_not())];
        self.notes.get_or_init(why)
    }
}
