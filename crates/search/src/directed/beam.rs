//! Beam search: of each level only the best states.
//!
//! Bisiani, *Beam search*, in the *Encyclopedia of artificial intelligence*, 1987. All successors of the states of
//! a level are the next level, of which only so many are kept that the estimate says are nearest to an error, the
//! first of those that are as near. So time and memory grow with the depth of an error, not with the number of
//! states; what is left out may have been the way to it.
//!
//! *Invariant*: a state is kept, and expanded, once. One that was left out can be kept later, when another run
//! comes to it; the runs to those that are kept never change.
//!
//! *Cost*: besides what `known.rs` takes, four bytes and a bit for each state, and 32 for each of two levels.

use spinward_machine::System;
use spinward_store::{Flags, Full, Numbers, Store};

use super::known::{Known, Reached, Shared};
use super::runs::Runs;
use super::{Directed, Method, Range, begin};
use crate::buffer::Buffer;
use crate::limits::{Limit, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::Start;

/// Searches level by level and keeps so many states of each; also tells the range of the estimates.
pub fn beam<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    width: usize,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    begin(Start { system, scratch, request, progress }, directed, Width(width))
}

/// How many states of each level are kept.
struct Width(usize);

impl Method for Width {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        shared: &Shared<'_, S, T>,
    ) -> Result<(Outcome, Range), Full> {
        Ok(Beam::new(shared, start.request, self.0)?.run(start))
    }
}

struct Beam<'a, S, T> {
    known: Known<'a, S, T>,
    width: usize,
    /// Those of the level at hand.
    level: Buffer<Reached>,
    /// Those of the next one, with their place in the order in which they were reached.
    next: Buffer<(Reached, usize)>,
    /// By state: the last level it was reached at.
    levels: Numbers,
    kept: Flags,
    /// How many are kept, and whether any was not.
    count: u64,
    dropped: bool,
    runs: Runs,
}

impl<'a, S: System, T: Store> Beam<'a, S, T> {
    fn new(shared: &'a Shared<'a, S, T>, request: &Request, width: usize) -> Result<Self, Full> {
        let memory = &shared.memory;
        Ok(Self {
            width: width.max(1),
            level: Buffer::new(memory),
            next: Buffer::new(memory),
            levels: Numbers::new(memory.budget())?,
            kept: Flags::new(memory.budget())?,
            count: 0,
            dropped: false,
            runs: Runs::new(request.errors, memory),
            known: Known::new(shared, request)?,
        })
    }

    fn run(mut self, start: Start<'_, S>) -> (Outcome, Range) {
        let Start { scratch, request, progress, .. } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let stopped = self.go_on(scratch, &mut watch).err();
        drop(watch);
        // One that was not kept may have been later.
        let left_out = self.known.counts.states - self.count;
        let left_out = Some(left_out).filter(|&count| self.dropped && count > 0);
        self.known.finish(self.runs, request, scratch, stopped, left_out)
    }

    fn go_on(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let first = self.known.begin()?;
        self.next.push((first, 0))?;
        for depth in 1.. {
            self.choose()?;
            if self.level.is_empty() {
                break;
            }
            for index in 0..self.level.len() {
                self.expand(self.level[index], depth, scratch, watch)?;
            }
        }
        Ok(())
    }

    /// The best of the next level are the level at hand.
    fn choose(&mut self) -> Result<(), Limit> {
        let all = self.next.with_room(0)?;
        all.sort_unstable_by_key(|&(state, order)| (state.estimate, order));
        self.dropped |= all.len() > self.width;
        all.truncate(self.width);
        self.level.clear();
        for &(state, _) in self.next.iter() {
            self.level.push(state)?;
            self.kept.insert(state.number)?;
            self.count += 1;
        }
        self.next.clear();
        Ok(())
    }

    fn expand(
        &mut self,
        from: Reached,
        depth: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let (kept, levels) = (&self.kept, &self.levels);
        let wanted = |number| {
            let is_wanted = !kept.contains(number) && levels.get(number) != depth;
            if is_wanted {
                levels.set(number, depth)?;
            }
            Ok(is_wanted)
        };
        let expanded = self.known.expand_to_wanted(from, scratch, watch, wanted);
        for index in 0..self.known.violations() {
            if let Some((violation, length)) = self.known.violation(index, from) {
                self.runs.meet(violation, length, || self.known.path(0, from.number))?;
            }
        }
        expanded?;
        for &state in self.known.reached.iter() {
            self.next.push((state, self.next.len()))?;
        }
        Ok(())
    }
}
