//! Breadth-first search by the length of runs.
//!
//! Holzmann, *The SPIN Model Checker*, figure 8.6, made to count steps as the user sees them: an
//! atomic sequence is one transition but many steps, so states wait in buckets by the length of the
//! shortest run to them known so far (Dial, *Algorithm 360*, 1969), and the buckets are emptied in
//! order.
//!
//! *Invariant*: when a state is expanded, no run to it is shorter than its distance; so each state
//! is expanded once, and an error at most as long as the current bucket's runs has no shorter run.
//! An error inside of an atomic sequence may lie further ahead, so the search goes on until nothing
//! shorter can come.
//!
//! *Batches*: to look a state up costs a wait for memory, so states are expanded some at a time; all
//! successors are hashed and what will be looked at is brought into the cache before the first of
//! them is looked up. What comes of it is noted in the order of the states, as if they had been
//! expanded one by one.
//!
//! *Cost*: a distance and a parent for each state besides its key, and four bytes in a bucket.

use std::collections::BTreeMap;

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::{Full, Numbers, Store, Worker};

use crate::chunked::{Chunked, Queue};
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, Memory, Watch, bound, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;
use crate::start::{Algorithm, Start};

/// How many states are expanded together.
const BATCH: usize = 32;

/// How far ahead of the one that is looked up a successor's key is brought into the cache.
const AHEAD: usize = 8;

/// Searches breadth-first; the runs to all errors are shortest ones.
pub fn bfs<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    Start { system, scratch, request, progress }.run::<BreadthFirst>()
}

/// Names the search.
enum BreadthFirst {}

impl Algorithm for BreadthFirst {
    fn search<S: System, T: Store>(
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut search = Bfs::new(system, request, store, memory)?;
        let mut watch = Watch::new(&request.limits, progress);
        let stopped = search.run(scratch, &mut watch).err();
        drop(watch);
        Ok(request.limits.undisturbed(|| search.finish(scratch, stopped)))
    }
}

struct Bfs<'a, S: System, T> {
    system: &'a S,
    request: &'a Request,
    memory: Memory,
    counts: Counts,
    store: T,
    worker: Worker,
    /// By state: the length of the shortest run known to it, and one more.
    distance: Numbers,
    /// By state: the last state before it on that run.
    parent: Numbers,
    /// By state: what is not part of its key, as that run leaves it.
    hidden: Chunked<u8>,
    /// How many bytes that is.
    hidden_bytes: usize,
    /// States that wait, by distance. A state that was found to be nearer also stays where it was.
    buckets: BTreeMap<u32, Queue<u32>>,
    /// The distance of the states being expanded.
    level: u32,
    /// Longer runs are not looked at.
    bound: u32,
    /// Whether a violation was met beyond the bound.
    beyond: bool,
    /// The state where each shows.
    findings: Findings<u32>,
}

impl<'a, S: System, T: Store> Bfs<'a, S, T> {
    fn new(system: &'a S, request: &'a Request, store: T, memory: Memory) -> Result<Self, Full> {
        Ok(Self {
            system,
            request,
            distance: Numbers::new(memory.budget())?,
            parent: Numbers::new(memory.budget())?,
            memory,
            counts: Counts::default(),
            store,
            worker: Worker::default(),
            hidden: Chunked::new(),
            hidden_bytes: 0,
            buckets: BTreeMap::new(),
            level: 0,
            bound: bound(&request.limits),
            beyond: false,
            findings: Findings::new(),
        })
    }

    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut state = Vec::new();
        self.system.initial(&mut state);
        self.hidden_bytes = state.len() - self.system.key(&state).len();
        self.counts.transitions = 1;
        self.start(&state).map_err(Stopped::Limit)?;

        let mut batch = Batch::default();
        while let Some((level, mut bucket)) = self.buckets.pop_first() {
            self.level = level;
            self.check_errors()?;
            loop {
                batch.clear();
                while batch.states.len() < BATCH
                    && let Some(number) = bucket.pop(&self.memory)
                {
                    if self.distance_of(number) == level {
                        batch.states.push(Expanded { number, ..Expanded::default() });
                    }
                }
                if batch.states.is_empty() {
                    break;
                }
                // What was found before a limit was hit is noted.
                let expanded = self.expand(&mut batch, &mut state, scratch, watch);
                let looked_up = self.look_up(&mut batch);
                self.note(&batch, watch)?;
                expanded.and(looked_up).map_err(Stopped::Limit)?;
            }
        }
        Ok(())
    }

    /// Whether as many errors were found as were asked for, and none shorter can come.
    fn check_errors(&self) -> Result<(), Stopped> {
        let errors = self.request.errors;
        if errors > 0 && self.findings.within(self.level) >= errors {
            return Err(Stopped::Errors);
        }
        Ok(())
    }

    /// The length of the shortest run known to a state that was reached.
    fn distance_of(&self, number: u32) -> u32 {
        self.distance.get(number) - 1
    }

    fn start(&mut self, state: &[u8]) -> Result<(), Limit> {
        let key = self.system.key(state);
        let prepared = self.store.prepare(key, &mut self.worker)?;
        let found = self.store.insert(key, prepared, &mut self.worker)?;
        self.reach(found, state, 0, 0)
    }

    /// Expands the states of a batch.
    fn expand(
        &mut self,
        batch: &mut Batch,
        state: &mut Vec<u8>,
        scratch: &mut S::Scratch,
        watch: &Watch<'_>,
    ) -> Result<(), Limit> {
        let mut key = Vec::new();
        for i in 0..batch.states.len() {
            let number = batch.states[i].number;
            self.store.get(number, &mut key, &mut self.worker);
            state.clear();
            let hidden = number as usize * self.hidden_bytes;
            state.extend((hidden..hidden + self.hidden_bytes).map(|index| self.hidden.get(index)));
            state.extend_from_slice(&key);
            let mut expansion = Expansion {
                system: self.system,
                store: &self.store,
                worker: &mut self.worker,
                memory: &self.memory,
                batch,
                limit: None,
            };
            let flow = self.system.expand(state, scratch, &mut expansion);
            let over = watch.broken_off(expansion.limit, flow);
            batch.states[i] = Expanded {
                number,
                successors: batch.successors.len(),
                violations: batch.violations.len(),
                whole: over.is_ok(),
            };
            if over.is_err() {
                batch.states.truncate(i + 1);
                return over;
            }
        }
        Ok(())
    }

    /// Finds out which successors are known.
    fn look_up(&mut self, batch: &mut Batch) -> Result<(), Limit> {
        for (i, successor) in batch.successors.iter().enumerate() {
            if let Some(next) = batch.successors.get(i + AHEAD) {
                self.store.prefetch_key(next.prepared);
            }
            let key = self.system.key(batch.state(i));
            batch.found.push(self.store.insert(key, successor.prepared, &mut self.worker)?);
        }
        Ok(())
    }

    /// Notes what came of a batch. Errors are noted also past a limit: they were found.
    fn note(&mut self, batch: &Batch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut within = Ok(());
        let (mut next_successor, mut next_violation) = (0, 0);
        for expanded in &batch.states {
            self.counts.depth = self.level.into();
            let looked_up = expanded.successors.min(batch.found.len());
            for i in next_successor..looked_up {
                if within.is_err() {
                    break;
                }
                self.counts.transitions += 1;
                let distance = longer(self.level, batch.successors[i].length);
                within = self.reach(batch.found[i], batch.state(i), distance, expanded.number);
            }
            let known = self.findings.len();
            for &(violation, length) in &batch.violations[next_violation..expanded.violations] {
                self.meet(violation, longer(self.level, length), expanded.number);
            }
            (next_successor, next_violation) = (expanded.successors, expanded.violations);
            if within.is_ok() {
                self.counts.expanded += u64::from(expanded.whole);
                if self.findings.len() > known {
                    self.check_errors()?;
                }
                within = watch.tick(&self.counts, self.level, &self.memory);
            }
        }
        within.map_err(Stopped::Limit)
    }

    /// A run of this length leads to a state, by way of `parent`.
    fn reach(
        &mut self,
        (number, new): (u32, bool),
        state: &[u8],
        distance: u32,
        parent: u32,
    ) -> Result<(), Limit> {
        let hidden = &state[..self.hidden_bytes];
        let was_within = if new {
            for &byte in hidden {
                self.hidden.push(byte, &self.memory)?;
            }
            self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
            false
        } else {
            let before = self.distance_of(number);
            if distance >= before {
                return Ok(());
            }
            for (offset, &byte) in hidden.iter().enumerate() {
                self.hidden.set(number as usize * self.hidden_bytes + offset, byte);
            }
            before <= self.bound
        };
        self.distance.set(number, distance + 1)?;
        self.parent.set(number, parent)?;
        if distance > self.bound {
            return Ok(());
        }
        if !was_within {
            if self.counts.states >= self.request.limits.max_states.unwrap_or(u64::MAX) {
                return Err(Limit::States);
            }
            self.counts.states += 1;
        }
        self.buckets.entry(distance).or_insert_with(Queue::new).push(number, &self.memory)
    }

    /// A violation shows after a run of this length, on the way out of a state.
    fn meet(&mut self, violation: Violation, length: u32, state: u32) {
        if length > self.bound {
            self.beyond = true;
            return;
        }
        self.counts.errors += 1;
        match self.findings.known(violation) {
            Some(example) if example.length <= length => {}
            Some(example) => {
                example.violation = violation;
                example.length = length;
                example.path = state;
            }
            None => self.findings.add(violation, length, state),
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += 1;
        }
    }

    fn finish(mut self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        let all = stopped.is_none();
        let truncated = all && (self.beyond || self.counts.states < self.store.len());
        self.counts.memory = self.memory.peak();
        let mut examples = std::mem::replace(&mut self.findings, Findings::new()).into_examples();
        keep_shortest(&mut examples, self.request.errors);
        let errors = examples
            .into_iter()
            .map(|example| {
                let mut path = vec![example.path];
                let mut at = example.path;
                while at != 0 {
                    at = self.parent.get(at);
                    path.push(at);
                }
                let worker = &mut self.worker;
                let path = path.iter().rev().map(|&number| {
                    let mut key = Vec::new();
                    self.store.get(number, &mut key, worker);
                    (key, self.distance.get(number) - 1)
                });
                let run =
                    rebuild(self.system, scratch, path, example.violation, example.length, false);
                Found {
                    violation: example.violation,
                    steps: run.steps,
                    occurrences: example.occurrences,
                    shortest: all || example.length <= self.level,
                }
            })
            .collect();
        Outcome { errors, counts: self.counts, stopped, truncated }
    }
}

/// Some states that are expanded together, and what came of them, in order.
#[derive(Default)]
struct Batch {
    states: Vec<Expanded>,
    /// The bytes of the successors.
    bytes: Vec<u8>,
    successors: Vec<Successor>,
    /// With the lengths of the ways to them.
    violations: Vec<(Violation, usize)>,
    /// By successor: its number and whether it is new.
    found: Vec<(u32, bool)>,
}

/// A state of a batch.
#[derive(Clone, Copy, Default)]
struct Expanded {
    number: u32,
    /// Where its successors and violations end in the lists.
    successors: usize,
    violations: usize,
    /// Whether it was expanded to the end.
    whole: bool,
}

/// A successor of a batch.
#[derive(Clone, Copy)]
struct Successor {
    /// Where it ends in the bytes.
    end: usize,
    /// What the store knows of its key.
    prepared: u64,
    /// The length of the way to it.
    length: usize,
}

impl Batch {
    fn clear(&mut self) {
        self.states.clear();
        self.bytes.clear();
        self.successors.clear();
        self.violations.clear();
        self.found.clear();
    }

    /// A successor.
    fn state(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.successors[index - 1].end };
        &self.bytes[start..self.successors[index].end]
    }

    /// Makes room for a successor of so many bytes. The room is held on to while the store grows,
    /// from batch to batch, so it stays counted.
    fn make_room(&mut self, bytes: usize, memory: &Memory) -> Result<(), Limit> {
        let held = self.bytes.capacity();
        let needed = self.bytes.len() + bytes;
        if needed > held {
            memory.lend(self.uncounted() as u64)?;
            let room = needed.max(2 * held);
            memory.take(room as u64)?;
            self.bytes.reserve_exact(room - self.bytes.len());
            memory.give_back(held as u64);
        }
        Ok(())
    }

    /// Bytes in use beside the successors' own, about; vectors that grow may take as much again.
    fn uncounted(&self) -> usize {
        2 * self.successors.capacity() * (size_of::<Successor>() + size_of::<(u32, bool)>())
            + 2 * self.violations.capacity() * size_of::<(Violation, usize)>()
    }
}

/// Takes the successors of one state.
struct Expansion<'e, S, T> {
    system: &'e S,
    store: &'e T,
    worker: &'e mut Worker,
    memory: &'e Memory,
    batch: &'e mut Batch,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<S: System, T: Store> Expansion<'_, S, T> {
    fn add(&mut self, state: &[u8], steps: &[Step]) -> Result<(), Limit> {
        let batch = &mut *self.batch;
        batch.make_room(state.len(), self.memory)?;
        let prepared = self.store.prepare(self.system.key(state), self.worker)?;
        self.store.prefetch(prepared);
        batch.bytes.extend_from_slice(state);
        let end = batch.bytes.len();
        batch.successors.push(Successor { end, prepared, length: length(steps) });
        Ok(())
    }
}

impl<S: System, T: Store> Sink for Expansion<'_, S, T> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let added = self.add(state, steps);
        unless_hit(added, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.batch.violations.push((violation, length(steps)));
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend((bytes + self.batch.uncounted()) as u64), &mut self.limit)
    }
}
