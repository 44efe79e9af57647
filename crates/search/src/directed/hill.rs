//! Enforced hill climbing: on from the first state that is better.
//!
//! Hoffmann and Nebel, *The FF planning system*, 2001, section 5. From the state at hand the search looks breadth
//! first until an expansion comes to one that seems nearer to an error, and goes on from the best of these only.
//! It is over when there is none, be it that a way was taken from which no error can be reached any more.
//!
//! *Invariant*: estimates become smaller with each climb, so there are at most as many as the first estimate is
//! large. The way to where a climb begins is known by its successors; what is known of states within a climb may
//! change with the next.
//!
//! *Cost*: besides what `known.rs` takes, four bytes and a bit for each state, and 12 for those that a climb has
//! come to. A state may be expanded in every climb.

use spinward_machine::System;
use spinward_store::{Flags, Full, Numbers, Store};

use super::known::{Known, Reached, Shared};
use super::runs::Runs;
use super::{Directed, Method, Range, begin};
use crate::buffer::Buffer;
use crate::limits::{Limit, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::Start;

/// Climbs; also tells the range of the estimates.
pub fn hill<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    begin(Start { system, scratch, request, progress }, directed, Climbing)
}

/// Names the search.
struct Climbing;

impl Method for Climbing {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        shared: &Shared<'_, S, T>,
    ) -> Result<(Outcome, Range), Full> {
        Ok(Hill::new(shared, start.request)?.run(start))
    }
}

struct Hill<'a, S, T> {
    known: Known<'a, S, T>,
    /// Those that the climb at hand has come to, in order.
    waiting: Buffer<Reached>,
    /// By state: the last climb that came to it.
    climbs: Numbers,
    /// Which were expanded, and how many that are.
    expanded: Flags,
    count: u64,
    /// The successors that lead to where the climb at hand began.
    path: Buffer<u32>,
    runs: Runs,
}

impl<'a, S: System, T: Store> Hill<'a, S, T> {
    fn new(shared: &'a Shared<'a, S, T>, request: &Request) -> Result<Self, Full> {
        let memory = &shared.memory;
        Ok(Self {
            waiting: Buffer::new(memory),
            climbs: Numbers::new(memory.budget())?,
            expanded: Flags::new(memory.budget())?,
            count: 0,
            path: Buffer::new(memory),
            runs: Runs::new(request.errors, memory),
            known: Known::new(shared, request)?,
        })
    }

    fn run(mut self, start: Start<'_, S>) -> (Outcome, Range) {
        let Start { scratch, request, progress, .. } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let stopped = self.go_on(scratch, &mut watch).err();
        drop(watch);
        // What no run within the bound comes to is not left out by choice.
        let left_out = self.known.counts.states - self.count;
        let left_out = Some(left_out).filter(|&count| count > 0 && !self.known.truncated);
        self.known.finish(self.runs, request, scratch, stopped, left_out)
    }

    fn go_on(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut start = self.known.begin()?;
        for climb in 1.. {
            let Some(better) = self.climb(start, climb, scratch, watch)? else { break };
            let path = self.known.path(start.number, better.number);
            self.path.extend_from_slice(&path)?;
            start = better;
        }
        Ok(())
    }

    /// Looks for a state that is better than the one it begins with.
    fn climb(
        &mut self,
        start: Reached,
        climb: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Reached>, Stopped> {
        self.climbs.set(start.number, climb).map_err(Limit::from)?;
        self.waiting.clear();
        self.waiting.push(start)?;
        let mut index = 0;
        while let Some(&from) = self.waiting.get(index) {
            index += 1;
            self.expand(from, start.number, climb, scratch, watch)?;
            let best = self.known.reached.iter().min_by_key(|it| it.estimate);
            if let Some(&best) = best.filter(|it| it.estimate < start.estimate) {
                return Ok(Some(best));
            }
            self.waiting.extend_from_slice(&self.known.reached)?;
        }
        Ok(None)
    }

    fn expand(
        &mut self,
        from: Reached,
        start: u32,
        climb: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let climbs = &self.climbs;
        let wanted = |number| {
            let is_wanted = climbs.get(number) != climb;
            if is_wanted {
                climbs.set(number, climb)?;
            }
            Ok(is_wanted)
        };
        let expanded = self.known.expand_to_wanted(from, scratch, watch, wanted);
        for index in 0..self.known.violations() {
            if let Some((violation, length)) = self.known.violation(index, from) {
                let path = || [&*self.path, &self.known.path(start, from.number)].concat();
                self.runs.meet(violation, length, path)?;
            }
        }
        expanded?;
        let is_new = self.expanded.insert(from.number).map_err(Limit::from)?;
        self.count += u64::from(is_new);
        Ok(())
    }
}
