//! What comes of an expansion, before any of it is looked up.
//!
//! To look a state up costs a wait for memory. So all successors of a state are hashed while it is expanded, which
//! brings what will be looked at into the cache.

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
}

/// A successor that was not looked up yet.
#[derive(Clone, Copy)]
pub(super) struct Successor<'f> {
    /// Which one it is.
    pub index: u32,
    pub state: &'f [u8],
    pub steps: &'f [Step],
    /// What the store knows of its key.
    pub prepared: u64,
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

    /// The successors, in order.
    pub fn successors(&self) -> impl Iterator<Item = Successor<'_>> {
        let (mut bytes, mut steps) = (0, 0);
        (0..).zip(self.ends.iter()).map(move |(index, end)| {
            let state = &self.bytes[bytes..end.bytes];
            let way = &self.steps[steps..end.steps];
            (bytes, steps) = (end.bytes, end.steps);
            Successor { index, state, steps: way, prepared: end.prepared }
        })
    }
}

/// Takes the successors of one state.
pub(super) struct Expansion<'e, 'a, S, T> {
    pub shared: &'e Shared<'a, S, T>,
    pub worker: &'e mut Worker,
    pub fresh: &'e mut Fresh,
    /// What broke the expansion off.
    pub limit: Option<Limit>,
}

impl<S: System, T: Store> Expansion<'_, '_, S, T> {
    fn add(&mut self, state: &[u8], steps: &[Step]) -> Result<(), Limit> {
        let Shared { system, store, .. } = self.shared;
        let prepared = store.prepare(system.key(state), self.worker)?;
        store.prefetch(prepared);
        self.fresh.bytes.extend_from_slice(state)?;
        self.fresh.steps.extend_from_slice(steps)?;
        let (bytes, steps) = (self.fresh.bytes.len(), self.fresh.steps.len());
        self.fresh.ends.push(End { bytes, steps, prepared })
    }
}

impl<S: System, T: Store> Sink for Expansion<'_, '_, S, T> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let added = self.add(state, steps);
        unless_hit(added, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let added = self.fresh.violations.push((violation, longer(0, length(steps))));
        unless_hit(added, &mut self.limit)
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let lent = self.shared.memory.lend(bytes as u64);
        unless_hit(lent, &mut self.limit)
    }
}
