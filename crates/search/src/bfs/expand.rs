//! What a thread does with a block of states, on its own.
//!
//! To look a state up costs a wait for memory, so states are expanded some at a time: all successors
//! are hashed and what will be looked at is brought into the cache before the first of them is looked
//! up. Successors known to be as near already are only counted; what else comes of a block waits in
//! it to be [noted](super::note).

use std::sync::atomic::{AtomicBool, Ordering};

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::{Bytes, Store, Worker};

use super::marks::{Mark, Marks};
use crate::buffer::Buffer;
use crate::limits::{Clock, Limit, Memory, longer, unless_hit};

/// How far ahead of the one that is looked up a successor's key is brought into the cache.
const AHEAD: usize = 8;

/// Successors of so many bytes are looked up before other states are expanded.
const LARGE: usize = 1 << 18;

/// What all threads share.
pub(super) struct Shared<'a, S, T> {
    pub system: &'a S,
    pub store: T,
    pub marks: Marks,
    /// What is not part of a state's key, as the shortest run known leaves it.
    pub hidden: Bytes,
    pub memory: Memory,
    pub clock: Clock<'a>,
    /// Longer runs are not looked at.
    pub bound: u32,
    /// Whether moves are left out that make no difference.
    pub reduces: bool,
    /// Set when the search is over: nobody waits any more for what a thread does.
    pub over: AtomicBool,
}

impl<S, T> Shared<'_, S, T> {
    /// Whether a run of this length may be the shortest one to a state. If not, it stays so: states
    /// only come nearer, until they are expanded.
    #[inline]
    fn may_be_nearer(&self, number: u32, distance: u32, level: u32) -> bool {
        match self.marks.get(number, level) {
            Mark::New | Mark::Far => true,
            Mark::Closed => false,
            Mark::Beyond => distance <= self.bound,
            Mark::Open(known) => distance < known,
        }
    }
}

/// Some states that one thread expands, and what came of them, in order.
pub(super) struct Block {
    /// Which one it is.
    pub sequence: u64,
    /// The distance of its states.
    pub level: u32,
    /// The position of the first state.
    pub position: u64,
    pub states: Vec<u32>,
    pub expanded: Vec<Expanded>,
    /// Of how many of these the successors were looked up.
    sorted: usize,
    pub arrivals: Buffer<Arrival>,
    /// For each arrival what is not part of the key.
    pub hidden: Buffer<u8>,
    /// With the lengths of the ways to them.
    pub violations: Buffer<(Violation, usize)>,
    /// What broke it off.
    pub broken: Option<Limit>,
}

impl Block {
    pub fn new(memory: &Memory) -> Self {
        Self {
            sequence: 0,
            level: 0,
            position: 0,
            states: Vec::new(),
            expanded: Vec::new(),
            sorted: 0,
            arrivals: Buffer::new(memory),
            hidden: Buffer::new(memory),
            violations: Buffer::new(memory),
            broken: None,
        }
    }

    pub fn clear(&mut self) {
        self.states.clear();
        self.expanded.clear();
        self.sorted = 0;
        self.arrivals.clear();
        self.hidden.clear();
        self.violations.clear();
        self.broken = None;
    }
}

/// A state that was expanded.
#[derive(Clone, Copy)]
pub(super) struct Expanded {
    pub position: u64,
    /// How many successors were told before these, and left out.
    pub left_out: u32,
    /// How many successors were looked up.
    pub successors: u32,
    /// Where its arrivals and violations end in the lists.
    pub arrivals: usize,
    pub violations: usize,
    /// Whether it was expanded to the end.
    pub whole: bool,
}

/// A successor that may be new, or nearer than it was known to be.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub number: u32,
    /// Which successor it is.
    pub successor: u32,
    pub distance: u32,
    /// Bytes of the state.
    pub bytes: u32,
}

/// A successor that was not looked up yet.
#[derive(Clone, Copy)]
struct Successor {
    /// Where it ends in the bytes.
    end: usize,
    /// What the store knows of its key.
    prepared: u64,
    /// The length of the way to it.
    length: usize,
}

/// What a thread works with.
pub(super) struct Expander<'a, S: System, T> {
    shared: &'a Shared<'a, S, T>,
    scratch: &'a mut S::Scratch,
    worker: Worker,
    key: Vec<u8>,
    state: Vec<u8>,
    /// The bytes of the successors.
    bytes: Buffer<u8>,
    successors: Buffer<Successor>,
    /// The numbers of those that were looked up.
    numbers: Buffer<u32>,
}

impl<'a, S: System, T: Store> Expander<'a, S, T> {
    pub fn new(shared: &'a Shared<'a, S, T>, scratch: &'a mut S::Scratch) -> Self {
        let memory = &shared.memory;
        Self {
            shared,
            scratch,
            worker: Worker::default(),
            key: Vec::new(),
            state: Vec::new(),
            bytes: Buffer::new(memory),
            successors: Buffer::new(memory),
            numbers: Buffer::new(memory),
        }
    }

    /// The number of the initial state.
    pub fn initial(&mut self, state: &[u8]) -> Result<u32, Limit> {
        let key = self.shared.system.key(state);
        let prepared = self.shared.store.prepare(key, &mut self.worker)?;
        Ok(self.shared.store.insert(key, prepared, &mut self.worker)?.0)
    }

    /// Expands the states of a block. What came of it before it was broken off is in the block.
    pub fn expand(&mut self, block: &mut Block) {
        let states = std::mem::take(&mut block.states);
        let result = self.expand_states(&states, block);
        let looked_up = self.look_up(block);
        block.broken = block.broken.or(result.and(looked_up).err());
        block.states = states;
    }

    fn expand_states(&mut self, states: &[u32], block: &mut Block) -> Result<(), Limit> {
        let Shared { system, store, marks, hidden, clock, .. } = self.shared;
        for (position, &number) in (block.position..).zip(states) {
            // Otherwise it was expanded when it was found to be nearer.
            if marks.get(number, block.level) != Mark::Open(block.level) {
                continue;
            }
            marks.set(number, Mark::Closed)?;
            store.get(number, &mut self.key, &mut self.worker);
            self.state.clear();
            hidden.read(number, &mut self.state);
            self.state.extend_from_slice(&self.key);
            let first = self.successors.len();
            let (alone, left_out) = self.expand_alone(block)?;
            let mut whole = Ok(());
            if !alone {
                let (state, scratch, mut expansion) = self.expansion(block);
                let flow = system.expand(state, scratch, &mut expansion);
                whole = clock.broken_off(expansion.limit, flow);
            }
            block.expanded.push(Expanded {
                position,
                left_out,
                successors: (self.successors.len() - first) as u32,
                arrivals: 0,
                violations: block.violations.len(),
                whole: whole.is_ok(),
            });
            whole?;
            if self.bytes.len() > LARGE {
                self.look_up(block)?;
            }
        }
        Ok(())
    }

    /// Makes only the moves of an actor that may move alone in the state at hand, if one of them leads to a
    /// state that is expanded later; whether there is one, and how many successors were told of others.
    fn expand_alone(&mut self, block: &mut Block) -> Result<(bool, u32), Limit> {
        let Shared { system, clock, reduces, .. } = self.shared;
        let (first, bytes) = (self.successors.len(), self.bytes.len());
        let (mut from, mut left_out) = (0, 0);
        while *reduces && let Some(actor) = system.alone(&self.state, from, true) {
            from = actor + 1;
            let (state, scratch, mut expansion) = self.expansion(block);
            let told = system.expand_alone(state, actor, scratch, &mut expansion);
            clock.broken_off(expansion.limit, told.map_continue(|_| ()))?;
            if self.any_comes_later(first, bytes, block.level)? {
                return Ok((true, left_out));
            }
            left_out += (self.successors.len() - first) as u32;
            self.successors.truncate(first);
            self.bytes.truncate(bytes);
        }
        Ok((false, left_out))
    }

    /// Whether one of the last successors is expanded later than the states of a level. It does not matter
    /// how far others have come: those that are not known yet, or wait, are not of this level.
    fn any_comes_later(&mut self, first: usize, bytes: usize, level: u32) -> Result<bool, Limit> {
        let Shared { system, store, marks, .. } = self.shared;
        let mut start = bytes;
        for successor in &self.successors[first..] {
            let key = system.key(&self.bytes[start..successor.end]);
            let (number, _) = store.insert(key, successor.prepared, &mut self.worker)?;
            start = successor.end;
            let later = match marks.get(number, level) {
                Mark::New | Mark::Far => true,
                Mark::Open(distance) => distance > level,
                Mark::Closed | Mark::Beyond => false,
            };
            if later {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The state at hand, room to work in, and who takes its successors.
    fn expansion<'e>(
        &'e mut self,
        block: &'e mut Block,
    ) -> (&'e [u8], &'e mut S::Scratch, Expansion<'e, S, T>) {
        let Shared { system, store, memory, over, .. } = self.shared;
        let expansion = Expansion {
            system: *system,
            store,
            memory,
            over,
            worker: &mut self.worker,
            bytes: &mut self.bytes,
            successors: &mut self.successors,
            violations: &mut block.violations,
            limit: None,
        };
        (&self.state, self.scratch, expansion)
    }

    /// Finds out which successors are known. Those past a limit are left out.
    fn look_up(&mut self, block: &mut Block) -> Result<(), Limit> {
        let found = self.find_numbers();
        let sorted = self.sort_out(block);
        self.bytes.clear();
        self.successors.clear();
        self.numbers.clear();
        found.and(sorted)
    }

    fn find_numbers(&mut self) -> Result<(), Limit> {
        let Shared { system, store, marks, .. } = self.shared;
        let mut start = 0;
        for (i, successor) in self.successors.iter().enumerate() {
            if let Some(next) = self.successors.get(i + AHEAD) {
                store.prefetch_key(next.prepared);
            }
            let key = system.key(&self.bytes[start..successor.end]);
            let (number, _) = store.insert(key, successor.prepared, &mut self.worker)?;
            marks.prefetch(number);
            self.numbers.push(number)?;
            start = successor.end;
        }
        Ok(())
    }

    /// Adds to the block what has to be noted of the states that were expanded since the last time.
    fn sort_out(&mut self, block: &mut Block) -> Result<(), Limit> {
        let mut result = Ok(());
        let mut found = self.successors.iter().zip(&*self.numbers);
        let mut start = 0;
        for expanded in &mut block.expanded[block.sorted..] {
            for index in 0..expanded.successors {
                let sorted = found.next().ok_or(None).and_then(|(successor, &number)| {
                    let state = &self.bytes[start..successor.end];
                    start = successor.end;
                    let distance = longer(block.level, successor.length);
                    if !self.shared.may_be_nearer(number, distance, block.level) {
                        return Ok(());
                    }
                    let hidden = &state[..self.shared.hidden.width()];
                    let bytes = state.len() as u32;
                    let successor = expanded.left_out + index;
                    let arrival = Arrival { number, successor, distance, bytes };
                    let added = block.hidden.extend_from_slice(hidden);
                    added.and_then(|()| block.arrivals.push(arrival)).map_err(Some)
                });
                if let Err(limit) = sorted {
                    result = result.and(limit.map_or(Ok(()), Err));
                    expanded.successors = index;
                    expanded.whole = false;
                    break;
                }
            }
            expanded.arrivals = block.arrivals.len();
        }
        block.sorted = block.expanded.len();
        result
    }
}

/// Takes the successors of one state.
struct Expansion<'e, S, T> {
    system: &'e S,
    store: &'e T,
    memory: &'e Memory,
    over: &'e AtomicBool,
    worker: &'e mut Worker,
    bytes: &'e mut Buffer<u8>,
    successors: &'e mut Buffer<Successor>,
    violations: &'e mut Buffer<(Violation, usize)>,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<S: System, T: Store> Expansion<'_, S, T> {
    #[inline]
    fn add(&mut self, state: &[u8], steps: &[Step]) -> Result<(), Limit> {
        let prepared = self.store.prepare(self.system.key(state), self.worker)?;
        self.store.prefetch(prepared);
        self.bytes.extend_from_slice(state)?;
        let end = self.bytes.len();
        self.successors.push(Successor { end, prepared, length: length(steps) })
    }

    /// Goes on unless a limit was hit or the search is over.
    fn flow(&mut self, result: Result<(), Limit>) -> Flow {
        unless_hit(result, &mut self.limit)?;
        if self.over.load(Ordering::Relaxed) { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

impl<S: System, T: Store> Sink for Expansion<'_, S, T> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let added = self.add(state, steps);
        self.flow(added)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let added = self.violations.push((violation, length(steps)));
        self.flow(added)
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let lent = self.memory.lend(bytes as u64);
        self.flow(lent)
    }
}
