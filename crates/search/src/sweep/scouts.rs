//! Looks for an error in other ways, while a sweep waits.
//!
//! *Idea*: an error that a sweep comes by late is often near for a depth-first search, or for a greedy search by some
//! guide. Which of them nobody knows, so all have turns. The first look is depth first and very soon, as many errors are met by
//! the first run that comes along. Where there are many states a depth-first search that is as fast as a sweep (`dive.rs`) goes on whenever
//! there are a quarter more, until it has seen a constant part of them; so no error that is near to it is met much later than
//! by a depth-first search alone. Whenever there are twice as many states one of the guides has a short look.
//!
//! *Cost*: one state for 10 of the sweep depth first, which takes up to twice as long, and for 256 by guides, which take some
//! fifteen times as long, besides what short looks take at least: some milliseconds. Others that sweep wait meanwhile. So there
//! must be as many times as many states for each turn as there are threads.

use std::time::{Duration, Instant};

use spinward_guide::Guide;
use spinward_machine::System;
use spinward_store::{Apart, apart, trim};

use super::dive::Dive;
use crate::dfs::dfs;
use crate::directed::Directed;
use crate::directed::best_first::{Rank, best_first};
use crate::limits::{Limit, Limits, Memory};
use crate::outcome::{Outcome, Progress, Request, Stopped};

/// How many states there must be before an error is looked for in another way.
pub(super) const FIRST_TURN: u64 = 1_024;

/// So many states are looked at in the first turn.
const FIRST_STATES: u64 = 512;

/// Of so many states that there are one is visited depth first, the first ones not counted: until then it would cost more to learn moves
/// and to compile than the sweep does.
const DEPTH_SHARE: u64 = 10;
const DEPTH_AFTER: u64 = 1 << 16;

/// How many states there must be for the first guide, and whenever there are twice as many for the next: of so many one is
/// looked at, and so many at least.
const GUIDED: u64 = 8_192;
const GUIDED_SHARE: u64 = 512;
const GUIDED_STATES: u64 = 512;

/// The part of the free memory that a short look may use.
const PART: u64 = 4;

/// The part of the memory in use at which the search that goes on ends, as the sweep is to have the rest.
const SHARED: u64 = 2;

/// With less memory free than this nobody looks: what was freed the allocator may keep.
const LEAST_FREE: u64 = 32 << 20;

/// How many states there must be for the turn after one.
pub(super) fn next_turn(states: u64) -> u64 {
    states.saturating_add(states / 4).max(FIRST_TURN)
}

/// Guides by which errors are looked for while a sweep waits.
#[derive(Clone, Copy)]
pub struct Guides<'g> {
    /// How many there are.
    pub count: usize,
    /// Makes one of them, if it fits.
    pub make: &'g dyn Fn(usize) -> Option<Box<dyn Guide + 'g>>,
}

/// Who looks for an error while a sweep waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scout {
    /// A depth-first search.
    DepthFirst,
    /// A greedy search by this guide.
    Guide(usize),
}

/// Those who take turns.
pub(super) struct Scouts<'s, 'g, S: System> {
    system: &'s S,
    guides: Guides<'g>,
    turns: Turns,
    /// Before which turns somebody had too little memory beside the sweep: alone they may come to more.
    cut_short: Option<Turns>,
    /// The search that goes on, and where its memory is.
    dive: Option<Dive<'s, S>>,
    place: Apart,
    /// Whether there will be none any more.
    dived: bool,
    /// Whether the sweep is over.
    alone: bool,
    /// Who has found what; after that nobody takes a turn.
    found: Option<Finding>,
    /// The same, beside the sweep.
    met: Option<Finding>,
}

/// Who has found what.
type Finding = (Scout, Outcome);

/// The turns that there were.
#[derive(Clone, Copy, Debug)]
struct Turns {
    /// How many states of the sweep there were at the last one.
    seen: u64,
    /// Which guide is the next to have a look, and how many states there must be for that.
    next_guide: usize,
    guided_at: u64,
}

impl<'s, 'g, S: System> Scouts<'s, 'g, S> {
    pub fn new(system: &'s S, guides: Guides<'g>) -> Self {
        Self {
            system,
            guides,
            turns: Turns { seen: 0, next_guide: 0, guided_at: GUIDED },
            cut_short: None,
            dive: None,
            place: Apart::default(),
            dived: false,
            alone: false,
            found: None,
            met: None,
        }
    }

    /// Who has found what, if anybody has.
    pub fn found(&self) -> Option<&Finding> {
        self.found.as_ref()
    }

    /// The same, or what was found beside the sweep by chance: with what memory it had to spare.
    pub fn known(&self) -> Option<&Finding> {
        self.found().or(self.met.as_ref())
    }

    /// How many states a sweep had at the last turn.
    pub fn seen(&self) -> u64 {
        self.turns.seen
    }

    /// Who has found what, of what was found in the turns until a sweep has so many states.
    pub fn found_until(&self, seen: u64) -> Option<&Finding> {
        self.found().filter(|_| self.turns.seen <= seen)
    }

    /// The sweep is over. The turns for which it left too little memory are had once more, without it: how much that was depends on
    /// the threads.
    pub fn leave_sweep(&mut self) {
        self.leave();
        self.alone = true;
        if let Some(before) = self.cut_short {
            self.turns = before;
            self.dived = false;
            self.met = self.found.take();
        }
    }

    /// Looks for an error in the ways whose turn it is, when so many states were seen. What goes on takes its memory from that of the
    /// sweep.
    pub fn take_turn(
        &mut self,
        scratch: &mut S::Scratch,
        request: &Request,
        seen: u64,
        memory: &Memory,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let before = self.turns;
        self.turns.seen = seen;
        let free = || memory.budget().limit().saturating_sub(memory.used());
        let least = if self.alone { 0 } else { LEAST_FREE };
        let mut short = free() < least;
        if short {
            self.leave();
            self.dived = true;
        } else if seen == FIRST_TURN {
            let memory = free() / PART;
            let look = self.scout(Scout::DepthFirst, scratch, request, FIRST_STATES, memory);
            short = look.is_some_and(|look| self.take(Scout::DepthFirst, look));
        } else if let Some(more @ 1..) = seen.checked_sub(DEPTH_AFTER) {
            let states = more / DEPTH_SHARE;
            let deeper = self.go_deeper(scratch, request, states, memory, progress);
            short = deeper == Err(Limit::Memory);
        }
        if self.found.is_none() && free() >= least && seen >= self.turns.guided_at {
            self.turns.guided_at = self.turns.guided_at.saturating_mul(2);
            let states = GUIDED_STATES.max(seen / GUIDED_SHARE);
            for _ in 0..self.guides.count {
                let number = self.turns.next_guide;
                self.turns.next_guide = (number + 1) % self.guides.count;
                let who = Scout::Guide(number);
                // Not all fit.
                if let Some(look) = self.scout(who, scratch, request, states, free() / PART) {
                    short |= self.take(who, look);
                    break;
                }
            }
        }
        if short {
            self.cut_short.get_or_insert(before);
        }
    }

    /// Keeps what was found; whether there was too little memory for more.
    fn take(&mut self, who: Scout, outcome: Outcome) -> bool {
        let short = outcome.stopped == Some(Stopped::Limit(Limit::Memory));
        if !outcome.errors.is_empty() {
            // That it was bounded is nobody's concern.
            self.found = Some((who, Outcome { stopped: Some(Stopped::Errors), ..outcome }));
        }
        short
    }

    /// Goes on depth first, until so many states were visited in all, unless it came to its end at a limit.
    fn go_deeper(
        &mut self,
        scratch: &mut S::Scratch,
        request: &Request,
        states: u64,
        memory: &Memory,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), Limit> {
        let Self { system, dive, place, dived, .. } = self;
        if *dived {
            return Ok(());
        }
        let limit = memory.budget().limit();
        let most = if self.alone { limit } else { limit / SHARED };
        let found = place.within(|| {
            let dive = match dive {
                Some(dive) => dive,
                None => dive.insert(Dive::new(*system, memory)?),
            };
            dive.go_on(states, most, scratch, request, progress)
        });
        if let Ok(None) = found {
            return Ok(());
        }
        self.leave();
        self.dived = true;
        self.found = found?.map(|outcome| (Scout::DepthFirst, outcome));
        Ok(())
    }

    /// Lets go of the memory that the search that goes on has. If it goes on, it begins anew.
    fn leave(&mut self) {
        if self.dive.take().is_some() {
            trim();
        }
    }

    /// Has all turns that there would be until a sweep has so many states, unless something was found by then.
    pub fn go_on(
        &mut self,
        scratch: &mut S::Scratch,
        request: &Request,
        seen: u64,
        progress: &mut dyn FnMut(&Progress),
    ) {
        self.take_turns(scratch, request, progress, |_, next| next <= seen);
    }

    /// Has turns until nobody can go on depth first, as there is no more memory for it or nothing left to see, unless something was
    /// found by then. When that is depends on no sweep.
    pub fn go_on_to_the_end(
        &mut self,
        scratch: &mut S::Scratch,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let goes_on = |it: &Self| !it.dived && !it.dive.as_ref().is_some_and(Dive::is_over);
        self.take_turns(scratch, request, progress, |it, _| goes_on(it));
    }

    fn take_turns(
        &mut self,
        scratch: &mut S::Scratch,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
        goes_on: impl Fn(&Self, u64) -> bool,
    ) {
        let begun = Instant::now();
        let memory = Memory::new(request.limits.memory);
        while self.found.is_none() {
            let next = next_turn(self.turns.seen);
            let request = request.later(begun.elapsed());
            let is_over =
                request.limits.stop.is_told() || request.limits.time == Some(Duration::ZERO);
            if is_over || !goes_on(self, next) {
                break;
            }
            self.take_turn(scratch, &request, next, &memory, progress);
        }
        self.leave();
    }

    /// What comes of a look in a way with so many states and bytes. None if it does not fit.
    fn scout(
        &self,
        who: Scout,
        scratch: &mut S::Scratch,
        request: &Request,
        states: u64,
        memory: u64,
    ) -> Option<Outcome> {
        let limits =
            Limits { max_states: Some(states), memory: Some(memory), ..request.limits.clone() };
        // One thread: whatever is looked at beside the way to an error is in vain.
        let request =
            Request { limits, shortest: false, reduces: false, threads: 1, ..request.clone() };
        // The sweep goes on, and so does its memory.
        apart(|| match who {
            Scout::Guide(number) => {
                let guide = (self.guides.make)(number)?;
                let directed = Directed { guide: &*guide, bound: None };
                let rank = Rank::Estimate;
                Some(best_first(self.system, scratch, &request, rank, directed, &mut |_| {}).0)
            }
            Scout::DepthFirst => Some(dfs(self.system, scratch, &request, &mut |_| {})),
        })
    }
}
