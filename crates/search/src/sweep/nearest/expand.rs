//! Some states that are expanded together, by whichever thread, and what came of them.

use std::collections::HashSet;

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};

use super::super::form::{Form, Packed};
use super::super::remembered::Remembered;
use super::arrivals::Arrivals;
use super::log::{Cursor, Log};
use crate::buffer::Buffer;
use crate::limits::{Clock, Limit, Memory, longer, unless_hit};
use crate::outcome::Place;

/// States in a block, at most.
const STATES: usize = 64;

/// Some states at one distance, and what came of those that were expanded so far, in order.
pub(super) struct Block {
    /// The distance of the states, and the number of the first one.
    level: u32,
    first: u64,
    /// Their forms, and where each ends.
    words: Buffer<u64>,
    ends: Buffer<usize>,
    /// How many were expanded.
    done: usize,
    /// Successors one step away at most, and those further away.
    pub arrivals: Arrivals,
    pub further: Arrivals,
    /// With the length of a run to each, and the number of the state that it was met on the way out of.
    pub violations: Buffer<(Violation, u32, u64)>,
    /// Numbers of states that have more bytes than all before them, and how many.
    pub sizes: Buffer<(u64, u64)>,
    largest: u64,
    /// What broke it off.
    pub broken: Option<Limit>,
}

impl Block {
    pub fn new(memory: &Memory) -> Self {
        Self {
            level: 0,
            first: 0,
            words: Buffer::new(memory),
            ends: Buffer::new(memory),
            done: 0,
            arrivals: Arrivals::new(memory),
            further: Arrivals::new(memory),
            violations: Buffer::new(memory),
            sizes: Buffer::new(memory),
            largest: 0,
            broken: None,
        }
    }

    /// Takes the next states of the log that are at a distance, those before a number.
    pub fn fill(&mut self, log: &Log, at: &mut Cursor, end: u64, level: u32) -> Result<(), Limit> {
        self.forget();
        self.words.clear();
        self.ends.clear();
        (self.level, self.first, self.done) = (level, at.number, 0);
        while at.number < end && self.ends.len() < STATES {
            let (_, form) = log.next(at);
            self.words.extend_from_slice(form)?;
            self.ends.push(self.words.len())?;
        }
        Ok(())
    }

    /// Forgets what came of the states, which was seen to.
    pub fn forget(&mut self) {
        self.arrivals.clear();
        self.further.clear();
        self.violations.clear();
        self.sizes.clear();
    }

    /// Notes how many bytes the state has that is expanded.
    fn measure(&mut self, bytes: usize) -> Result<(), Limit> {
        if bytes as u64 <= self.largest {
            return Ok(());
        }
        self.largest = bytes as u64;
        self.sizes.push((self.reached(), self.largest))
    }

    /// Up to which number its states were expanded.
    pub fn reached(&self) -> u64 {
        self.first + self.done as u64
    }

    /// Whether all its states were expanded.
    pub fn is_done(&self) -> bool {
        self.done == self.ends.len()
    }

    fn form(&self) -> &[u64] {
        let start = self.done.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[self.done]]
    }
}

/// What a thread expands states with.
pub(super) struct Expander<'a, S> {
    system: &'a S,
    clock: Clock<'a>,
    pub form: Packed<'a, S>,
    remembered: Remembered,
    /// How often all states were given another form.
    pub renewals: u64,
    memory: Memory,
    /// Room to work in.
    state: Vec<u8>,
    words: Vec<u64>,
}

impl<'a, S: System> Expander<'a, S> {
    pub fn new(system: &'a S, clock: Clock<'a>, remembered: Remembered, memory: &Memory) -> Self {
        Self {
            system,
            clock,
            form: Packed::new(system),
            remembered,
            renewals: 0,
            memory: memory.clone(),
            state: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Goes on to expand the states of a block, until all are, or much came of them, or the last one shows an error
    /// of a kind that is not `known` yet.
    pub fn expand(
        &mut self,
        block: &mut Block,
        known: &mut HashSet<Place>,
        scratch: &mut S::Scratch,
    ) {
        let kinds = known.len();
        while !block.is_done()
            && known.len() == kinds
            && !block.arrivals.is_full()
            && !block.further.is_full()
        {
            let expanded = self.expand_next(block, known, scratch);
            if let Err(limit) = expanded {
                block.broken = Some(limit);
                return;
            }
            block.done += 1;
        }
    }

    fn expand_next(
        &mut self,
        block: &mut Block,
        known: &mut HashSet<Place>,
        scratch: &mut S::Scratch,
    ) -> Result<(), Limit> {
        self.words.clear();
        self.words.extend_from_slice(block.form());
        let all_remembered = match self.words.len() {
            1 => self.expand_packed::<1>(block, scratch)?,
            2 => self.expand_packed::<2>(block, scratch)?,
            3 => self.expand_packed::<3>(block, scratch)?,
            4 => self.expand_packed::<4>(block, scratch)?,
            5 => self.expand_packed::<5>(block, scratch)?,
            6 => self.expand_packed::<6>(block, scratch)?,
            7 => self.expand_packed::<7>(block, scratch)?,
            8 => self.expand_packed::<8>(block, scratch)?,
            _ => false,
        };
        if all_remembered {
            return Ok(());
        }
        self.form.decode(&self.words, &mut self.state);
        block.measure(self.state.len())?;
        let (form, memory) = (&mut self.form, &self.memory);
        let parent = block.reached();
        let mut expansion = Expansion { block, known, form, parent, memory, limit: None };
        let flow = self.system.expand(&self.state, scratch, &mut expansion);
        self.clock.broken_off(expansion.limit, flow)
    }

    /// Makes the moves of the state whose words are at hand if all are remembered; whether they are.
    fn expand_packed<const W: usize>(
        &mut self,
        block: &mut Block,
        scratch: &mut S::Scratch,
    ) -> Result<bool, Limit> {
        let Self { system, form, remembered, state, words, .. } = self;
        let (Some(packing), Ok(form)) = (form.packing(), <[u64; W]>::try_from(&words[..])) else {
            return Ok(false);
        };
        let Some(mask) = packing.mask(&form) else {
            return Ok(false);
        };
        if !remembered.begin(*system, (packing, self.renewals), mask, &form) {
            return Ok(false);
        }
        let bytes = packing.bytes(mask);
        block.measure(packing.length(mask))?;
        let parent = block.reached();
        let Block { arrivals, further, .. } = block;
        remembered.each(*system, packing, mask, &form, scratch, |successor, own, length| {
            let arrivals = if length > 1 { &mut *further } else { &mut *arrivals };
            if own {
                return arrivals.push(successor, bytes, parent, length);
            }
            packing.read(successor, state);
            words.clear();
            let (bytes, _) = packing.write(system.layout(state), state, words);
            arrivals.push(words, bytes, parent, length)
        })
    }
}

/// Takes the successors of one state.
struct Expansion<'e, 'a, S> {
    block: &'e mut Block,
    known: &'e mut HashSet<Place>,
    form: &'e mut Packed<'a, S>,
    parent: u64,
    memory: &'e Memory,
    limit: Option<Limit>,
}

impl<S: System> Sink for Expansion<'_, '_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let length = length(steps) as u32;
        let Block { arrivals, further, .. } = &mut *self.block;
        let arrivals = if length > 1 { further } else { arrivals };
        let added = arrivals.add(state, self.form, self.parent, length);
        unless_hit(added, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.known.insert(Place::of(violation));
        let length = longer(self.block.level, length(steps));
        let noted = self.block.violations.push((violation, length, self.parent));
        unless_hit(noted, &mut self.limit)
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend(bytes as u64), &mut self.limit)
    }
}
