//! The graph that a check walks, by numbers of states.
//!
//! *Idea*: states are kept in a store, which numbers them; whatever a check knows of a state it hangs on that
//! number. A check comes to a state more than once, to search from it a second time or to find a run again, so
//! what is not part of the key is kept beside it, as it was when the state was first met.
//!
//! To look a state up costs a wait for memory; so the successors of a state are hashed while it is expanded,
//! and looked up, in order, when all are there (as in [`crate::dfs`]).
//!
//! *Cost*: the store, and for each state the bytes that are not part of its key.

use spinward_machine::{Cycles, Flow, Marks, Sink, Step, System, Violation, system::length};
use spinward_store::{Store, Worker};

use crate::buffer::Buffer;
use crate::bytes::Buffer as Bytes;
use crate::chunked::Chunked;
use crate::limits::{Clock, Limit, Memory, longer, unless_hit};
use crate::outcome::{Counts, Request};

/// What comes of an expansion, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Edge(Edge),
    /// Something is wrong, after so many steps.
    Violation(Violation, u32),
}

/// A successor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub to: u32,
    /// By how many steps.
    pub length: u32,
    pub marks: Marks,
}

/// A successor that is not looked up yet: how many bytes it has, and what the store knows of its key.
#[derive(Clone, Copy, Debug)]
struct Told {
    bytes: usize,
    prepared: u64,
}

/// A graph that comes to be known.
pub(crate) struct Graph<'a, S, T> {
    pub system: &'a S,
    pub request: &'a Request,
    pub memory: Memory,
    pub counts: Counts,
    /// What the last expansion has brought, unless it was taken away.
    pub events: Buffer<Event>,
    clock: Clock<'a>,
    store: T,
    worker: Worker,
    told: Buffer<Told>,
    states: Bytes,
    /// By state: what is not part of its key.
    hidden: Chunked<u8>,
    hidden_bytes: usize,
    /// By state, if asked for: its component and what is known of the cycles in there.
    components: Option<Chunked<(u32, Cycles)>>,
    /// The state that is expanded, and its key.
    state: Vec<u8>,
    key: Vec<u8>,
}

impl<'a, S: System, T: Store> Graph<'a, S, T> {
    pub fn new(
        system: &'a S,
        request: &'a Request,
        store: T,
        memory: Memory,
        clock: Clock<'a>,
    ) -> Self {
        Self {
            system,
            request,
            counts: Counts::default(),
            events: Buffer::new(&memory),
            clock,
            store,
            worker: Worker::default(),
            told: Buffer::new(&memory),
            states: Bytes::default(),
            hidden: Chunked::new(),
            hidden_bytes: 0,
            components: None,
            state: Vec::new(),
            key: Vec::new(),
            memory,
        }
    }

    /// From now on the component of each state is kept. To be called before there are any.
    pub fn keep_components(&mut self) {
        self.components = Some(Chunked::new());
    }

    /// The sets that a cycle must meet to be an error. Where no cycle is one, no edge is marked.
    pub fn wanted(&self) -> Marks {
        Marks::first(self.system.sets().unwrap_or(1))
    }

    /// The number of the initial state, the first one.
    pub fn initial(&mut self) -> Result<u32, Limit> {
        let mut state = Vec::new();
        self.system.initial(&mut state);
        let key = self.system.key(&state);
        self.hidden_bytes = state.len() - key.len();
        let prepared = self.store.prepare(key, &mut self.worker)?;
        let (number, _) = self.store.insert(key, prepared, &mut self.worker)?;
        self.remember(&state)?;
        Ok(number)
    }

    /// How many states have a number.
    pub fn len(&self) -> usize {
        self.store.len() as usize
    }

    /// The key of a state.
    pub fn key(&mut self, number: u32) -> Vec<u8> {
        let mut key = Vec::new();
        self.store.get(number, &mut key, &mut self.worker);
        key
    }

    /// The component of a state, if these are kept, and what is known of the cycles in there.
    pub fn component(&self, number: u32) -> (u32, Cycles) {
        let kept = self.components.as_ref();
        kept.map_or((0, Cycles::Judged), |components| components.get(number as usize))
    }

    /// Whether one of the edges from a state to another [ends at a mark](System::ends_at_mark).
    pub fn ends_at_mark(&mut self, from: u32, to: u32, scratch: &mut S::Scratch) -> bool {
        let to = self.key(to);
        self.load(from);
        self.system.ends_at_mark(&self.state, &to, scratch)
    }

    /// The bytes of a state.
    pub fn state(&mut self, number: u32) -> &[u8] {
        self.load(number);
        &self.state
    }

    /// Gets the bytes of a state.
    fn load(&mut self, number: u32) {
        self.state.clear();
        let first = number as usize * self.hidden_bytes;
        self.state.extend((first..first + self.hidden_bytes).map(|index| self.hidden.get(index)));
        self.store.get(number, &mut self.key, &mut self.worker);
        self.state.extend_from_slice(&self.key);
    }

    /// Finds all successors of a state and all that is wrong in it. At a limit only what is wrong is told.
    pub fn expand(&mut self, number: u32, scratch: &mut S::Scratch) -> Result<(), Limit> {
        self.events.clear();
        self.told.clear();
        self.states.clear();
        self.load(number);

        let mut expansion = Expansion {
            system: self.system,
            memory: &self.memory,
            store: &self.store,
            worker: &mut self.worker,
            events: &mut self.events,
            told: &mut self.told,
            states: &mut self.states,
            limit: None,
        };
        let flow = self.system.expand(&self.state, scratch, &mut expansion);
        let limit = expansion.limit;
        let result = self.clock.broken_off(limit, flow).and_then(|()| self.look_up());
        if result.is_err() {
            let events = self.events.with_room(0)?;
            events.retain(|event| matches!(event, Event::Violation(..)));
        }
        self.counts.expanded += 1;
        result
    }

    /// Gives the successors their numbers.
    fn look_up(&mut self) -> Result<(), Limit> {
        for told in self.told.iter() {
            self.store.prefetch_key(told.prepared);
        }
        let (mut at, mut next) = (0, 0);
        let states = std::mem::take(&mut self.states);
        let mut result = Ok(());
        for index in 0..self.events.len() {
            let Event::Edge(_) = self.events[index] else { continue };
            let Told { bytes, prepared } = self.told[next];
            let state = &states.all()[at..at + bytes];
            next += 1;
            at += bytes;
            let key = self.system.key(state);
            let looked_up = self.store.insert(key, prepared, &mut self.worker);
            result = looked_up.map_err(Limit::from).and_then(|(number, new)| {
                if let Event::Edge(edge) = &mut self.events.with_room(0)?[index] {
                    edge.to = number;
                }
                if new { self.remember(state) } else { Ok(()) }
            });
            if result.is_err() {
                break;
            }
        }
        self.states = states;
        result
    }

    /// Keeps what the store does not, of a state that is new.
    fn remember(&mut self, state: &[u8]) -> Result<(), Limit> {
        self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
        for &byte in &state[..self.hidden_bytes] {
            self.hidden.push(byte, &self.memory)?;
        }
        if let Some(components) = &mut self.components {
            components.push(self.system.component(state), &self.memory)?;
        }
        Ok(())
    }
}

/// Takes the successors of one state.
struct Expansion<'e, S, T> {
    system: &'e S,
    memory: &'e Memory,
    store: &'e T,
    worker: &'e mut Worker,
    events: &'e mut Buffer<Event>,
    told: &'e mut Buffer<Told>,
    states: &'e mut Bytes,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<S: System, T: Store> Expansion<'_, S, T> {
    fn take(&mut self, state: &[u8], steps: &[Step], marks: Marks) -> Result<(), Limit> {
        let prepared = self.store.prepare(self.system.key(state), self.worker)?;
        self.store.prefetch(prepared);
        self.states.push(state, self.memory)?;
        self.told.push(Told { bytes: state.len(), prepared })?;
        let length = longer(0, length(steps));
        self.events.push(Event::Edge(Edge { to: 0, length, marks }))
    }
}

impl<S: System, T: Store> Sink for Expansion<'_, S, T> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.marked(state, steps, Marks::default())
    }

    fn marked(&mut self, state: &[u8], steps: &[Step], marks: Marks) -> Flow {
        unless_hit(self.take(state, steps, marks), &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let event = Event::Violation(violation, longer(0, length(steps)));
        unless_hit(self.events.push(event), &mut self.limit)
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend(bytes as u64), &mut self.limit)
    }
}
