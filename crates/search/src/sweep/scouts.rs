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

use spinward_guide::Guide;
use spinward_machine::{System, system::length};
use spinward_store::trim;

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

/// States that each looks at when a run is wanted, and none was found breadth-first.
const LOOK_STATES: u64 = 8_192;

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

/// Who met an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetBy {
    /// The sweep.
    #[default]
    Sweep,
    /// A depth-first search while it waited.
    DepthFirst,
    /// A greedy search by this guide while it waited.
    Guide(usize),
}

/// Those who take turns.
pub(super) struct Scouts<'s, 'g, S> {
    system: &'s S,
    guides: Guides<'g>,
    turn: usize,
    /// States that were looked at depth first at most: as many again would be the same ones.
    depth_states: u64,
}

impl<'s, 'g, S: System> Scouts<'s, 'g, S> {
    pub fn new(system: &'s S, guides: Guides<'g>) -> Self {
        Self { system, guides, turn: 0, depth_states: 0 }
    }

    /// Looks for an error in the ways whose turn it is, when so many states were seen and so many bytes are free.
    pub fn take_turn(
        &mut self,
        scratch: &mut S::Scratch,
        request: &Request,
        seen: u64,
        free: u64,
    ) -> Option<(MetBy, Outcome)> {
        let turn = self.turn;
        self.turn += 1;
        if free < LEAST_FREE {
            return None;
        }
        let memory = free / PART;
        let states = DEPTH_STATES.max(seen / DEPTH_SHARE);
        if turn.is_multiple_of(DEPTH_TURNS) && states > self.depth_states {
            self.depth_states = states;
            let by = MetBy::DepthFirst;
            if let Some(outcome) = self.scout(by, scratch, request, states, memory) {
                return Some((by, outcome));
            }
        }
        let guide = turn.checked_sub(DEPTH_TURNS)?.checked_rem(self.guides.count)?;
        let (by, states) = (MetBy::Guide(guide), GUIDED_STATES.max(seen / GUIDED_SHARE));
        self.scout(by, scratch, request, states, memory).map(|outcome| (by, outcome))
    }

    /// What the one has found that comes to the shortest run, if all of them look with some effort.
    pub fn look(&self, scratch: &mut S::Scratch, request: &Request) -> Option<Outcome> {
        let memory = request.limits.memory.unwrap_or(u64::MAX);
        let guides = (0..self.guides.count).map(MetBy::Guide);
        let all = [MetBy::DepthFirst].into_iter().chain(guides);
        let found = all.filter_map(|by| self.scout(by, scratch, request, LOOK_STATES, memory));
        found.min_by_key(|outcome| outcome.errors.first().map(|run| length(&run.steps)))
    }

    /// What is found in a way with so many states and bytes, if that is an error.
    fn scout(
        &self,
        by: MetBy,
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
        let outcome = match by {
            MetBy::Guide(number) => {
                let guide = (self.guides.make)(number)?;
                let directed = Directed { guide: &*guide, bound: None };
                let rank = Rank::Estimate;
                best_first(self.system, scratch, &request, rank, directed, &mut |_| {}).0
            }
            _ => dfs(self.system, scratch, &request, &mut |_| {}),
        };
        trim();
        let found = !outcome.errors.is_empty();
        // That it was bounded is nobody's concern.
        found.then_some(Outcome { stopped: Some(Stopped::Errors), ..outcome })
    }
}
