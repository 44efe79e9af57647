//! What comes of an expansion, before any of it is noted.
//!
//! To look a state up costs a wait for memory. So all successors of a state are hashed while it is expanded, which
//! brings what will be looked at into the cache.

use std::sync::atomic::Ordering;

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::{Store, Worker};

use super::known::Shared;
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory, longer, unless_hit};

/// What came of an expansion.
pub(super) struct Fresh {
    ends: Buffer<End>,
    bytes: Buffer<u8>,
    steps: Buffer<Step>,
    /// With the lengths of the ways to them.
    pub violations: Buffer<(Violation, u32)>,
}

/// Where a successor ends in the bytes, and its steps in those.
#[derive(Clone, Copy)]
struct End {
    bytes: usize,
    steps: usize,
    /// What the store knows of its key.
    prepared: u64,
    seen: Seen,
}

/// What is known of a successor.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    /// It was not looked up yet.
    NotYet,
    /// A run that is not longer leads there already.
    Before,
    /// It has this number; and how far it seems to be from an error, if that was found out.
    At(u32, Option<u32>),
}

/// A successor that is to be noted.
#[derive(Clone, Copy)]
pub(super) struct Successor<'f> {
    /// Which one it is.
    pub index: u32,
    pub state: &'f [u8],
    pub steps: &'f [Step],
    /// What the store knows of its key.
    pub prepared: u64,
    pub seen: Seen,
}

impl Fresh {
    pub fn new(memory: &Memory) -> Self {
        Self {
            ends: Buffer::new(memory),
            bytes: Buffer::new(memory),
            steps: Buffer::new(memory),
            violations: Buffer::new(memory),
        }
    }

    pub fn clear(&mut self) {
        self.ends.clear();
        self.bytes.clear();
        self.steps.clear();
        self.violations.clear();
    }

    /// Expands a state, of which all is added; what broke it off, if anything did.
    pub fn expand<S: System, T: Store>(
        &mut self,
        state: &[u8],
        shared: &Shared<'_, S, T>,
        worker: &mut Worker,
        scratch: &mut S::Scratch,
    ) -> (Option<Limit>, Flow) {
        let mut expansion = Expansion { shared, worker, fresh: self, limit: None };
        let flow = shared.system.expand(state, scratch, &mut expansion);
        (expansion.limit, flow)
    }

    /// The successors, in order.
    pub fn successors(&self) -> impl Iterator<Item = Successor<'_>> {
        let (mut bytes, mut steps) = (0, 0);
        (0..).zip(self.ends.iter()).map(move |(index, end)| {
            let state = &self.bytes[bytes..end.bytes];
            let way = &self.steps[steps..end.steps];
            (bytes, steps) = (end.bytes, end.steps);
            Successor { index, state, steps: way, prepared: end.prepared, seen: end.seen }
        })
    }

    /// Finds out of each successor what is known of it.
    pub fn look_up(
        &mut self,
        mut look: impl FnMut(Successor<'_>) -> Result<Seen, Limit>,
    ) -> Result<(), Limit> {
        let (mut bytes, mut steps) = (0, 0);
        for (index, end) in (0..).zip(self.ends.iter_mut()) {
            let state = &self.bytes[bytes..end.bytes];
            let way = &self.steps[steps..end.steps];
            (bytes, steps) = (end.bytes, end.steps);
            let End { prepared, seen, .. } = *end;
            end.seen = look(Successor { index, state, steps: way, prepared, seen })?;
        }
        Ok(())
    }
}

/// Takes the successors of one state.
struct Expansion<'e, 'a, S, T> {
    shared: &'e Shared<'a, S, T>,
    worker: &'e mut Worker,
    fresh: &'e mut Fresh,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<S: System, T: Store> Expansion<'_, '_, S, T> {
    fn add(&mut self, state: &[u8], steps: &[Step]) -> Result<(), Limit> {
        let Shared { system, store, .. } = self.shared;
        let prepared = store.prepare(system.key(state), self.worker)?;
        store.prefetch(prepared);
        self.fresh.bytes.extend_from_slice(state)?;
        self.fresh.steps.extend_from_slice(steps)?;
        let (bytes, steps) = (self.fresh.bytes.len(), self.fresh.steps.len());
        self.fresh.ends.push(End { bytes, steps, prepared, seen: Seen::NotYet })
    }

    /// Goes on unless a limit was hit or the search is over.
    fn flow(&mut self, result: Result<(), Limit>) -> Flow {
        unless_hit(result, &mut self.limit)?;
        if self.shared.over.load(Ordering::Relaxed) { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

impl<S: System, T: Store> Sink for Expansion<'_, '_, S, T> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let added = self.add(state, steps);
        self.flow(added)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let added = self.fresh.violations.push((violation, longer(0, length(steps))));
        self.flow(added)
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let lent = self.shared.memory.lend(bytes as u64);
        self.flow(lent)
    }
}
