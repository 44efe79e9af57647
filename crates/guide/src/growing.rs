//! A guide that is made while a search goes by another one.
//!
//! To make an image of a model may take longer than the search that it is for. So it is made bit by bit: what a search has done
//! allows for half as much work. Until the image is there, the search goes by `formula`, which takes no time to make; then by
//! the larger of the two, and it ranks anew what waits. An image that is not finished, as time or memory came to an end, is not used.
//!
//! *Properties*: admissible and consistent, as both are and their maximum is. Whether the image is there when a state is
//! estimated depends on what the search has counted, and on no clock, unless time or memory ended the making: how much memory is in
//! use is measured, and may differ from one run to the next.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Once, OnceLock};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::meter::Meter;
use crate::patience::NOT_NEEDED;
use crate::{Guide, Misfit, NEVER, Patience, Room, Subject, Wanted, Way, dpa, max, pdb};

/// What may be done before a search has begun: it takes up to a tenth of a second. Models of BEEM are made into images at 140 to 500
/// million moves of parts in a second, and at 90 or more at first.
const FREE: u64 = 1 << 23;

/// What each move that a search looks at allows for: up to half of the time that it takes. A search by the other guide looks at 1 to 8
/// million of them in a second; where it is fast, images are not made fast either.
const BY_MOVE: u64 = 12;

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
    /// One of the stages.
    stage: AtomicU8,
    nanoseconds: AtomicU64,
    notes: OnceLock<Vec<String>>,
}

/// What came of making a guide, when that is known.
type Made<'m> = OnceLock<Result<Box<dyn Guide + 'm>, Unmade>>;

/// Why there is no guide.
enum Unmade {
    Misfit(Misfit),
    /// It is not there, or not as good as it would be.
    GivenUp(&'static str),
}

/// Nothing was asked yet; the other guide answers; both do.
const ASLEEP: u8 = 0;
const GROWING: u8 = 1;
const GROWN: u8 = 2;

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
        let made = Made::new();
        let patience = Patience { meter: Some(&meter), memory, ..subject.patience };
        let subject = Subject { patience, ..*subject };
        let growing = Growing {
            wanted: self,
            meanwhile: MEANWHILE.parse::<Self>()?.build(&subject)?,
            made: &made,
            meter: &meter,
            is_consistent: !subject.symmetric,
            begun: Once::new(),
            stage: AtomicU8::new(ASLEEP),
            nanoseconds: AtomicU64::new(0),
            notes: OnceLock::new(),
        };
        std::thread::scope(|scope| {
            let _end = End(&meter);
            let make = || {
                let _end = End(&meter);
                // It begins when something is granted.
                if meter.spend(1) {
                    let built = self.build(&subject).map_err(Unmade::Misfit);
                    let gave_up = subject.patience.gave_up();
                    let _ = made.set(gave_up.map_or(built, |why| Err(Unmade::GivenUp(why))));
                }
            };
            if Builder::new().name("guide".into()).spawn_scoped(scope, make).is_err() {
                let _ = made.set(Err(Unmade::GivenUp("as there is no thread for that")));
                meter.end();
            }
            if begin == Begin::Now {
                growing.begin();
                if let Some(Err(Unmade::Misfit(misfit))) = made.get() {
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
        self.made.get().is_none()
    }

    /// Does what may be done before a search.
    fn begin(&self) {
        self.begun.call_once(|| {
            self.stage
                .store(if self.is_made_within(FREE) { GROWN } else { GROWING }, Ordering::Release);
        });
    }

    /// Whether it is there after so much work.
    fn is_made_within(&self, work: u64) -> bool {
        let begun = Instant::now();
        self.meter.grant(work);
        self.nanoseconds.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.made().is_some()
    }

    fn made(&self) -> Option<&dyn Guide> {
        let made = self.made.get()?.as_ref().ok()?;
        Some(&**made)
    }

    /// The one that is wanted, if it answers by now.
    fn grown(&self) -> Option<&dyn Guide> {
        self.made().filter(|_| self.stage.load(Ordering::Acquire) == GROWN)
    }

    /// Why it does not answer.
    fn why_not(&self) -> String {
        let guide = self.wanted;
        match self.made.get() {
            Some(Err(Unmade::Misfit(misfit))) => format!("{misfit}"),
            Some(Err(Unmade::GivenUp(why))) if *why != NOT_NEEDED => {
                format!("the guide '{guide}' was not made, {why}")
            }
            Some(Ok(_)) => {
                format!(
                    "the guide '{guide}' was not used: to rank anew what waits takes more memory than there is"
                )
            }
            // It may have seen by now that the search has ended, or not.
            Some(Err(Unmade::GivenUp(_))) | None => format!(
                "the guide '{guide}' was not made: that takes longer than half of the search"
            ),
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
            _ => by_wanted.max(self.meanwhile.estimate(state, way, room)),
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
        let work = FREE.saturating_add(moves.saturating_mul(BY_MOVE));
        self.stage.load(Ordering::Acquire) == GROWING && self.is_made_within(work)
    }

    fn improve(&self) {
        self.stage.store(GROWN, Ordering::Release);
    }

    fn notes(&self) -> &[String] {
        if self.stage.load(Ordering::Acquire) == ASLEEP {
            return &[];
        }
        let why = || vec![format!("{}; the search went by '{MEANWHILE}'", self.why_not())];
        self.grown().map_or_else(|| &**self.notes.get_or_init(why), |it| it.notes())
    }
}
