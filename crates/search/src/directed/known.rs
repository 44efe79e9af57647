//! The states that a search knows, and the way to each: for searches that expand states in whatever order.
//!
//! *Cost*: besides its key, 8 bytes for each state: where it was reached from, and which of the successors there it is.

use spinward_guide::{Room, Way};
use spinward_machine::{System, Violation, system::length};
use spinward_store::{Bytes, Full, Numbers, Store, Worker};

use super::fresh::{Expansion, Fresh};
use super::{Directed, Range};
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory, Watch, bound, longer};
use crate::outcome::{Counts, Request};

/// A state that was reached by a run of some length, and how far it seems to be from an error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub number: u32,
    pub length: u32,
    pub estimate: u32,
}

/// The states that a search knows.
pub(super) struct Known<'a, S, T> {
    pub system: &'a S,
    directed: Directed<'a>,
    pub memory: Memory,
    max_states: u64,
    /// Longer runs are not looked at.
    pub bound: u32,
    store: T,
    worker: Worker,
    room: Room,
    /// By state: the one it was reached from, and which of its successors it is.
    parents: Numbers,
    successors: Numbers,
    /// What is not part of a state's key.
    hidden: Bytes,
    fresh: Fresh,
    /// The states that the last expansion came to and that were wanted, in order.
    pub reached: Buffer<Reached>,
    key: Vec<u8>,
    state: Vec<u8>,
    pub counts: Counts,
    pub range: Range,
    /// Whether the bound cut off a state or an error.
    pub truncated: bool,
}

impl<'a, S: System, T: Store> Known<'a, S, T> {
    pub fn new(
        system: &'a S,
        request: &Request,
        directed: Directed<'a>,
        store: T,
        memory: Memory,
    ) -> Result<Self, Full> {
        let mut state = Vec::new();
        system.initial(&mut state);
        let hidden = state.len() - system.key(&state).len();
        let budget = memory.budget();
        Ok(Self {
            system,
            directed,
            max_states: request.limits.max_states.unwrap_or(u64::MAX),
            bound: bound(&request.limits),
            store,
            worker: Worker::default(),
            room: Room::default(),
            parents: Numbers::new(budget)?,
            successors: Numbers::new(budget)?,
            hidden: Bytes::new(hidden, budget)?,
            fresh: Fresh::new(&memory),
            reached: Buffer::new(&memory),
            key: Vec::new(),
            state,
            counts: Counts::default(),
            range: Range::of(0),
            truncated: false,
            memory,
        })
    }

    /// The initial state, which is to be expanded first.
    pub fn begin(&mut self) -> Result<Reached, Limit> {
        self.counts.transitions = 1;
        let key = self.system.key(&self.state);
        let prepared = self.store.prepare(key, &mut self.worker)?;
        let (number, _) = self.store.insert(key, prepared, &mut self.worker)?;
        self.hidden.set(number, &self.state[..self.hidden.width()])?;
        let estimate = self.directed.guide.estimate(&self.state, Way::default(), &mut self.room);
        self.range = Range::of(estimate);
        self.counts.state_bytes = self.state.len() as u64;
        self.count_state()?;
        Ok(Reached { number, length: 0, estimate })
    }

    fn count_state(&mut self) -> Result<(), Limit> {
        if self.counts.states >= self.max_states {
            return Err(Limit::States);
        }
        self.counts.states += 1;
        Ok(())
    }

    /// Expands a state. Of its successors those that are `wanted`, each asked for by its number, are
    /// [`Known::reached`] from it now.
    pub fn expand(
        &mut self,
        from: Reached,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
        wanted: impl FnMut(u32) -> Result<bool, Limit>,
    ) -> Result<(), Limit> {
        // Also if it ends here: what the last one came to is dealt with.
        self.fresh.clear();
        self.reached.clear();
        watch.tick(&self.counts, from.length, &self.memory)?;
        self.counts.depth = self.counts.depth.max(from.length.into());
        self.store.get(from.number, &mut self.key, &mut self.worker);
        self.state.clear();
        self.hidden.read(from.number, &mut self.state);
        self.state.extend_from_slice(&self.key);
        let mut expansion = Expansion {
            system: self.system,
            store: &self.store,
            memory: &self.memory,
            worker: &mut self.worker,
            fresh: &mut self.fresh,
            limit: None,
        };
        let flow = self.system.expand(&self.state, scratch, &mut expansion);
        let limit = expansion.limit;
        let fresh = std::mem::replace(&mut self.fresh, Fresh::new(&self.memory));
        let taken = self.take(&fresh, from, wanted);
        self.fresh = fresh;
        watch.broken_off(limit, flow).and(taken)?;
        self.counts.expanded += 1;
        Ok(())
    }

    fn take(
        &mut self,
        fresh: &Fresh,
        from: Reached,
        mut wanted: impl FnMut(u32) -> Result<bool, Limit>,
    ) -> Result<(), Limit> {
        let (mut byte, mut step) = (0, 0);
        for (index, successor) in (0..).zip(fresh.successors.iter()) {
            let state = &fresh.bytes[byte..successor.bytes];
            let steps = &fresh.steps[step..successor.steps];
            (byte, step) = (successor.bytes, successor.steps);
            self.counts.transitions += 1;
            let key = self.system.key(state);
            let (number, is_new) = self.store.insert(key, successor.prepared, &mut self.worker)?;
            if is_new {
                self.count_state()?;
                self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
            }
            let total = longer(from.length, length(steps));
            if total > self.bound {
                self.truncated |= is_new;
            } else if wanted(number)? {
                let way = Way { before: from.estimate, steps };
                let estimate = self.directed.guide.estimate(state, way, &mut self.room);
                self.range.note(estimate);
                self.parents.set(number, from.number)?;
                self.successors.set(number, index)?;
                self.hidden.set(number, &state[..self.hidden.width()])?;
                self.reached.push(Reached { number, length: total, estimate })?;
            }
        }
        Ok(())
    }

    /// How many errors the last expansion came to.
    pub fn violations(&self) -> usize {
        self.fresh.violations.len()
    }

    /// One of them, with the length of the run to it and by how much it is longer than that to the state expanded;
    /// none if it is beyond the bound.
    pub fn violation(&mut self, index: usize, from: Reached) -> Option<(Violation, (u32, u32))> {
        let (violation, by) = self.fresh.violations[index];
        let total = longer(from.length, by as usize);
        if total > self.bound {
            self.truncated = true;
            return None;
        }
        self.counts.errors += 1;
        Some((violation, (total, by)))
    }

    /// Which successors a run takes from one state to another.
    pub fn path(&self, from: u32, to: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut number = to;
        while number != from {
            path.push(self.successors.get(number));
            number = self.parents.get(number);
        }
        path.reverse();
        path
    }
}
