//! Short looks for an error in other ways, while a sweep waits.
//!
//! *Idea*: an error that a sweep comes by late is often near for a depth-first search, or for a greedy search by some
//! guide. Which of them nobody knows, so all take turns whenever there are twice as many states: the guides one by one, and
//! depth first every third time. Each begins anew, with a share of the states that there are by then, so that all of them
//! cost a constant part of the sweep. The first look is depth first and very soon, as many errors are met by the first run
//! that comes along.
//!
//! *Cost*: at most one state for 56 of the sweep depth first, and for 256 by guides, besides what short looks take at
//! least: some milliseconds. A depth-first search needs some five times as long as the sweep for a state, a guide some
//! fifteen times.

use std::time::Instant;

use spinward_guide::Guide;
use spinward_machine::System;
use spinward_store::apart;

use super::all_states::{PROBED_AFTER, PROBED_AGAIN};
use crate::dfs::dfs;
use crate::directed::Directed;
use crate::directed::best_first::{Rank, best_first};
use crate::limits::Limits;
use crate::outcome::{Outcome, Request, Stopped};

/// Of so many states that there are one is looked at depth first, and at so many at least; the same by a guide.
const DEPTH_SHARE: u64 = 64;
const DEPTH_STATES: u64 = 512;
const GUIDED_SHARE: u64 = 512;
const GUIDED_STATES: u64 = 512;

/// At every so many turns it is looked depth first; before the second of them by no guide.
const DEPTH_TURNS: usize = 3;

/// The part of the free memory that may be used.
const PART: u64 = 4;

/// With less memory free than this nobody looks: what was freed the allocator may keep.
const LEAST_FREE: u64 = 32 << 20;

/// Guides by which errors are looked for while a sweep waits.
#[derive(Clone, Copy)]
pub struct Guides<'g> {
    /// How many there are.
    pub count: usize,
    /// Makes one of them.
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
pub(super) struct Scouts<'s, 'g, S> {
    system: &'s S,
    guides: Guides<'g>,
    turn: usize,
    /// How many states of the sweep there were at the last turn.
    seen: u64,
    /// States that were looked at depth first at most: as many again would be the same ones.
    depth_states: u64,
    /// Who has found what; after that nobody takes a turn.
    found: Option<(Scout, Outcome)>,
}

impl<'s, 'g, S: System> Scouts<'s, 'g, S> {
    pub fn new(system: &'s S, guides: Guides<'g>) -> Self {
        Self { system, guides, turn: 0, seen: 0, depth_states: 0, found: None }
    }

    /// Who has found what, if anybody has.
    pub fn found(&self) -> Option<&(Scout, Outcome)> {
        self.found.as_ref()
    }

    /// The same, of what was found in the turns until a sweep has so many states.
    pub fn found_until(&self, seen: u64) -> Option<&(Scout, Outcome)> {
        self.found().filter(|_| self.seen <= seen)
    }

    /// Looks for an error in the ways whose turn it is, when so many states were seen and so many bytes are free.
    pub fn take_turn(&mut self, scratch: &mut S::Scratch, request: &Request, seen: u64, free: u64) {
        let turn = self.turn;
        self.turn += 1;
        self.seen = seen;
        if free < LEAST_FREE {
            return;
        }
        let memory = free / PART;
        let states = DEPTH_STATES.max(seen / DEPTH_SHARE);
        if turn.is_multiple_of(DEPTH_TURNS) && states > self.depth_states {
            self.depth_states = states;
            self.found = self.scout(Scout::DepthFirst, scratch, request, states, memory);
        }
        let number = turn.checked_sub(DEPTH_TURNS).and_then(|it| it.checked_rem(self.guides.count));
        if let (None, Some(number)) = (&self.found, number) {
            let states = GUIDED_STATES.max(seen / GUIDED_SHARE);
            self.found = self.scout(Scout::Guide(number), scratch, request, states, memory);
        }
    }

    /// Has all turns that there would be until a sweep has so many states, unless something was found by then.
    pub fn go_on(&mut self, scratch: &mut S::Scratch, request: &Request, seen: u64) {
        let begun = Instant::now();
        let free = request.limits.memory.unwrap_or(u64::MAX);
        while self.found.is_none() {
            let request = &request.later(begun.elapsed());
            let next = self.seen.saturating_mul(PROBED_AGAIN).max(PROBED_AFTER);
            if next > seen {
                break;
            }
            self.take_turn(scratch, request, next, free);
        }
    }

    /// What is found in a way with so many states and bytes, if that is an error.
    fn scout(
        &self,
        who: Scout,
        scratch: &mut S::Scratch,
        request: &Request,
        states: u64,
        memory: u64,
    ) -> Option<(Scout, Outcome)> {
        let limits =
            Limits { max_states: Some(states), memory: Some(memory), ..request.limits.clone() };
        // One thread: whatever is looked at beside the way to an error is in vain.
        let request =
            Request { limits, shortest: false, reduces: false, threads: 1, ..request.clone() };
        // The sweep goes on, and so does its memory.
        let outcome = apart(|| match who {
            Scout::Guide(number) => {
                let guide = (self.guides.make)(number)?;
                let directed = Directed { guide: &*guide, bound: None };
                let rank = Rank::Estimate;
                Some(best_first(self.system, scratch, &request, rank, directed, &mut |_| {}).0)
            }
            Scout::DepthFirst => Some(dfs(self.system, scratch, &request, &mut |_| {})),
        })?;
        let found = !outcome.errors.is_empty();
        // That it was bounded is nobody's concern.
        found.then_some((who, Outcome { stopped: Some(Stopped::Errors), ..outcome }))
    }
}
