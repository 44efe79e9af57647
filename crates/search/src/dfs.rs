//! Depth-first search, in SPIN's order.
//!
//! Holzmann, *The SPIN Model Checker*, figures 8.2 and 8.4. When the search comes to a state, it
//! expands it at once: all successors get a number and wait on the stack, the first on top; a state
//! counts as visited only when the search descends into it, so that order and counts are SPIN's,
//! which computes one successor at a time. What is wrong on the way to a successor waits among them,
//! and so is met when SPIN meets it.
//!
//! To look a state up costs a wait for memory. So the successors of a state are hashed while it is
//! expanded, which brings what will be looked at into the cache, and are looked up, in order, when
//! all are there.
//!
//! *Invariant*: the entries of the stack marked open are, from the bottom, the states of the current
//! run. A state that was entered is marked and stays below its successors; when it comes to the top
//! again all of them are done.
//!
//! *Reduction*: where an actor may move alone, only its moves are made, unless all of them lead to states of
//! the current run (the condition C2s of Bosnacki and Holzmann, *Improving Spin's partial-order reduction for
//! breadth-first search*, 2005). So nobody is put off for ever: let one that was left alone go on to a state
//! that was not in the run then. All of these are left before it is, and there is no first state to be left
//! from which only such moves go on; so there comes one in which all moves are made.
//!
//! *Cost*: every state is expanded once; eight bytes of stack for each waiting successor. With a
//! bound on the depth, or in search of a shortest run, the length of the run to each state is kept,
//! and a state is expanded again when it is reached by a shorter one, so that nothing within the
//! bound is missed; the time may then be quadratic.

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::{Full, Store, Worker};

use crate::bytes::Buffer;
use crate::chunked::{Bits, Chunked};
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, MAX_LENGTH, Memory, Watch, bound, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;
use crate::start::{Algorithm, Start};

/// Searches depth-first.
pub fn dfs<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    Start { system, scratch, request, progress }.run(DepthFirst)
}

/// Names the search.
struct DepthFirst;

impl Algorithm for DepthFirst {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut search = Dfs::new(system, request, store, memory);
        let mut watch = Watch::new(&request.limits, progress);
        let mut stopped = search.run(scratch, &mut watch).err();
        drop(watch);
        if let Some(Stopped::Limit(_)) = stopped {
            // Not `?`: that the limit ended the search stays true.
            let _ = search.report_waiting();
        } else if search.shortens() && search.findings.len() > 0 {
            // What is longer than the run found was not looked at.
            stopped = Some(Stopped::Errors);
        }
        Ok(request.limits.undisturbed(|| search.finish(scratch, stopped)))
    }
}

/// What waits on the stack, or is entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// A state, or [`Entry::VIOLATION`].
    pub state: u32,
    /// The length of the run up to here; the highest bit tells whether the state was entered.
    pub depth: u32,
}

impl Entry {
    /// The violation on top of those that wait.
    pub const VIOLATION: u32 = u32::MAX;
    const OPEN: u32 = !MAX_LENGTH;

    pub fn is_open(self) -> bool {
        self.depth & Self::OPEN != 0
    }

    pub fn open(self) -> Self {
        Self { depth: self.depth | Self::OPEN, ..self }
    }

    pub fn length(self) -> u32 {
        self.depth & MAX_LENGTH
    }
}

/// Which states were visited.
#[derive(Debug)]
enum Seen {
    /// Once is enough.
    Once(Bits),
    /// By state: the length of the shortest run by which it was visited, or [`Seen::NEVER`].
    Depths(Chunked<u32>),
}

impl Seen {
    const NEVER: u32 = u32::MAX;

    /// Whether a run of this length to a state brings nothing new.
    fn covers(&self, state: u32, depth: u32) -> bool {
        match self {
            Self::Once(bits) => bits.contains(state),
            Self::Depths(depths) => depths.get(state as usize) <= depth,
        }
    }

    /// Notes a visit; what the length was before ([`Seen::NEVER`] if it was not visited).
    fn visit(&mut self, state: u32, depth: u32, memory: &Memory) -> Result<u32, Limit> {
        match self {
            Self::Once(bits) => bits.insert(state, memory).map(|_| Self::NEVER),
            Self::Depths(depths) => {
                let before = depths.get(state as usize);
                depths.set(state as usize, depth);
                Ok(before)
            }
        }
    }
}

/// A violation that waits on the stack.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    violation: Violation,
    /// Whether it counts; not if it was met before by a longer run.
    counts: bool,
}

struct Dfs<'a, S: System, T> {
    system: &'a S,
    request: &'a Request,
    memory: Memory,
    counts: Counts,
    store: T,
    worker: Worker,
    seen: Seen,
    /// The states of the current run, if moves are left out.
    run: Option<Bits>,
    stack: Chunked<Entry>,
    /// Of each state that waits on the stack: what is not part of its key.
    hidden: Chunked<u8>,
    /// How many bytes that is.
    hidden_bytes: usize,
    waiting: Chunked<Waiting>,
    /// Longer runs are not looked at.
    bound: u32,
    /// Violations met only beyond the bound.
    beyond: i64,
    /// The path to each, or none if it is the stack as it is.
    findings: Findings<Option<Vec<Entry>>>,
    /// What the expansion of a state has brought, in order.
    fresh: Fresh,
    /// The key of the state that is expanded.
    key: Vec<u8>,
}

/// Successors and violations of one state, in order.
#[derive(Debug, Default)]
struct Fresh {
    /// Those that are not looked up yet.
    events: Vec<Event>,
    /// The bytes of the successors among them.
    states: Buffer,
    /// What shall go on the stack.
    entries: Vec<Entry>,
    hidden: Vec<u8>,
    waiting: Vec<Waiting>,
    /// Whether a successor is not in the current run.
    leads_out: bool,
}

/// What comes of an expansion.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A successor of so many bytes, after a run of this length; `prepared` is what the store knows
    /// of its key.
    State { bytes: usize, depth: u32, prepared: u64 },
    /// The next of the violations, after a run of this length.
    Violation { depth: u32 },
}

impl Fresh {
    /// Bytes in use that are not counted.
    fn bytes(&self) -> usize {
        self.events.capacity() * size_of::<Event>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.hidden.capacity()
            + self.waiting.capacity() * size_of::<Waiting>()
    }
}

impl<'a, S: System, T: Store> Dfs<'a, S, T> {
    fn new(system: &'a S, request: &'a Request, store: T, memory: Memory) -> Self {
        let by_depth = request.limits.max_depth.is_some() || request.shortest;
        let seen = if by_depth { Seen::Depths(Chunked::new()) } else { Seen::Once(Bits::new()) };
        // A state that is expanded again would need all that was left out before.
        let run = (request.reduces && !by_depth).then(Bits::new);
        Self {
            system,
            request,
            memory,
            counts: Counts::default(),
            store,
            worker: Worker::default(),
            seen,
            run,
            stack: Chunked::new(),
            hidden: Chunked::new(),
            hidden_bytes: 0,
            waiting: Chunked::new(),
            bound: bound(&request.limits),
            beyond: 0,
            findings: Findings::new(),
            fresh: Fresh::default(),
            key: Vec::new(),
        }
    }

    /// Whether each error found lowers the bound.
    fn shortens(&self) -> bool {
        self.request.shortest && self.request.errors == 1
    }

    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut state = Vec::new();
        self.system.initial(&mut state);
        self.hidden_bytes = state.len() - self.system.key(&state).len();
        self.counts.transitions = 1;
        let initial = Expansion::of(self, 0, Seen::NEVER).successor_at(&state, 0);
        initial.and_then(|()| self.push_fresh()).map_err(Stopped::Limit)?;

        while let Some(entry) = self.stack.pop() {
            if entry.is_open() {
                if let Some(run) = &mut self.run {
                    run.remove(entry.state);
                }
                continue;
            }
            if entry.state == Entry::VIOLATION {
                if let Some(waiting) = self.waiting.pop() {
                    self.report(waiting, entry.length())?;
                }
                continue;
            }
            state.clear();
            state.resize(self.hidden_bytes, 0);
            for byte in state.iter_mut().rev() {
                *byte = self.hidden.pop().unwrap_or(0);
            }
            self.visit(entry, &mut state, scratch, watch).map_err(Stopped::Limit)?;
        }
        Ok(())
    }

    /// Enters a state, if a run of this length to it brings anything new. `state` has what is not
    /// part of its key.
    fn visit(
        &mut self,
        entry: Entry,
        state: &mut Vec<u8>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        let depth = entry.length();
        if depth > self.bound || self.seen.covers(entry.state, depth) {
            return Ok(());
        }
        watch.tick(&self.counts, depth, &self.memory)?;
        let max_states = self.request.limits.max_states.unwrap_or(u64::MAX);
        let before = self.seen.visit(entry.state, depth, &self.memory)?;
        if before != Seen::NEVER {
            self.counts.reopened += 1;
        } else if self.counts.states < max_states {
            self.counts.states += 1;
        } else {
            return Err(Limit::States);
        }
        self.counts.depth = self.counts.depth.max(depth.into());
        self.stack.push(entry.open(), &self.memory)?;
        self.store.get(entry.state, &mut self.key, &mut self.worker);
        state.extend_from_slice(&self.key);

        if let Some(run) = &mut self.run {
            run.insert(entry.state, &self.memory)?;
        }
        if !self.expand_alone(depth, state, scratch, watch)? {
            let system = self.system;
            let mut expansion = Expansion::of(self, depth, before);
            let flow = system.expand(state, scratch, &mut expansion);
            let limit = expansion.limit;
            self.push_fresh()?;
            watch.broken_off(limit, flow)?;
        }
        self.counts.expanded += 1;
        Ok(())
    }

    /// Makes only the moves of an actor that may move alone, if there is one that leads out of the current
    /// run; whether there is.
    fn expand_alone(
        &mut self,
        depth: u32,
        state: &[u8],
        scratch: &mut S::Scratch,
        watch: &Watch<'_>,
    ) -> Result<bool, Limit> {
        let system = self.system;
        let mut from = 0;
        while self.run.is_some()
            && let Some(actor) = system.alone(state, from, true)
        {
            from = actor + 1;
            let transitions = self.counts.transitions;
            let mut expansion = Expansion::of(self, depth, Seen::NEVER);
            let told = system.expand_alone(state, actor, scratch, &mut expansion);
            let limit = expansion.limit;
            self.push_fresh()?;
            watch.broken_off(limit, told.map_continue(|_| ()))?;
            if self.fresh.leads_out {
                return Ok(true);
            }
            // All processes are asked, this one once more.
            self.counts.transitions = transitions;
        }
        Ok(false)
    }

    /// Puts what an expansion has brought on the stack, the first on top.
    fn push_fresh(&mut self) -> Result<(), Limit> {
        let mut fresh = std::mem::take(&mut self.fresh);
        let looked_up = self.look_up(&mut fresh);
        let pushed = self.push(&mut fresh);
        self.fresh = fresh;
        looked_up.and(pushed)
    }

    /// Finds out which successors bring anything new. Violations are kept also past a limit: they
    /// were found.
    fn look_up(&mut self, fresh: &mut Fresh) -> Result<(), Limit> {
        for &event in &fresh.events {
            if let Event::State { prepared, .. } = event {
                self.store.prefetch_key(prepared);
            }
        }
        let mut within = Ok(());
        let mut leads_out = false;
        let mut states = fresh.states.all();
        for event in fresh.events.drain(..) {
            match event {
                Event::Violation { depth } => {
                    fresh.entries.push(Entry { state: Entry::VIOLATION, depth });
                }
                Event::State { bytes, depth, prepared } => {
                    let (state, rest) = states.split_at(bytes);
                    states = rest;
                    let number = within.and_then(|()| self.number(state, depth, prepared));
                    match number.map(|(number, wanted)| {
                        leads_out |= self.run.as_ref().is_some_and(|run| !run.contains(number));
                        wanted.then_some(number)
                    }) {
                        Ok(Some(number)) => {
                            fresh.entries.push(Entry { state: number, depth });
                            fresh.hidden.extend_from_slice(&state[..self.hidden_bytes]);
                        }
                        Ok(None) => {}
                        Err(limit) => within = Err(limit),
                    }
                }
            }
        }
        fresh.states.clear();
        fresh.leads_out = leads_out;
        within
    }

    /// The number of a state, and whether a run of this length to it brings anything new.
    fn number(&mut self, state: &[u8], depth: u32, prepared: u64) -> Result<(u32, bool), Limit> {
        let key = self.system.key(state);
        let (number, new) = self.store.insert(key, prepared, &mut self.worker)?;
        if new {
            self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
            if let Seen::Depths(depths) = &mut self.seen {
                depths.push(Seen::NEVER, &self.memory)?;
            }
        }
        let wanted = depth <= self.bound && !self.seen.covers(number, depth);
        Ok((number, wanted))
    }

    /// Puts entries on the stack; what there is no room for stays.
    fn push(&mut self, fresh: &mut Fresh) -> Result<(), Limit> {
        while let Some(&entry) = fresh.entries.last() {
            if entry.state == Entry::VIOLATION {
                if let Some(&waiting) = fresh.waiting.last() {
                    self.waiting.push(waiting, &self.memory)?;
                }
                self.stack.push(entry, &self.memory).inspect_err(|_| {
                    self.waiting.pop();
                })?;
                fresh.waiting.pop();
            } else {
                let hidden = fresh.hidden.len() - self.hidden_bytes;
                for &byte in &fresh.hidden[hidden..] {
                    self.hidden.push(byte, &self.memory)?;
                }
                self.stack.push(entry, &self.memory)?;
                fresh.hidden.truncate(hidden);
            }
            fresh.entries.pop();
        }
        Ok(())
    }

    /// Meets a violation; the run to it is the stack.
    fn report(&mut self, waiting: Waiting, length: u32) -> Result<(), Stopped> {
        let Waiting { violation, counts } = waiting;
        if length > self.bound {
            return Ok(());
        }
        self.counts.errors += u64::from(counts);
        let shortest = self.request.shortest;
        let wanted = match self.findings.known(violation) {
            Some(example) => shortest && length < example.length,
            None => true,
        };
        let last = !shortest && wanted && self.findings.len() + 1 == self.request.errors;
        let mut stop = Ok(());
        if last {
            stop = Err(Stopped::Errors);
        }
        if wanted {
            // A run that ends the search needs no copy of the stack.
            let path = if last {
                None
            } else {
                self.path().inspect_err(|&limit| stop = Err(Stopped::Limit(limit))).ok()
            };
            match self.findings.known(violation) {
                Some(example) => {
                    let old = std::mem::replace(&mut example.path, path);
                    example.length = length;
                    example.violation = violation;
                    self.memory.give_back(path_bytes(old.map_or(0, |old| old.len())));
                }
                None => self.findings.add(violation, length, path),
            }
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += u64::from(counts);
        }
        if self.shortens() {
            match length.checked_sub(1) {
                Some(shorter) => self.bound = shorter,
                None => return Err(Stopped::Errors),
            }
        }
        stop
    }

    /// The entered states of the stack.
    fn path(&mut self) -> Result<Vec<Entry>, Limit> {
        let open = || self.stack.iter().filter(|entry| entry.is_open());
        let length = open().count();
        self.memory.take(path_bytes(length))?;
        let mut path = Vec::with_capacity(length);
        path.extend(open());
        Ok(path)
    }

    /// Meets the violations that still wait when a limit ends the search: they were found, though
    /// in the order of the search they would come later.
    fn report_waiting(&mut self) -> Result<(), Stopped> {
        if self.findings.examples().any(|it| it.path.is_none()) {
            // The stack is still needed.
            return Ok(());
        }
        let enough = |it: &Self| it.request.errors > 0 && it.findings.len() >= it.request.errors;
        // There may have been no memory to put the last ones on the stack.
        let left = std::mem::take(&mut self.fresh);
        let violations = left.entries.iter().filter(|it| it.state == Entry::VIOLATION);
        for (&waiting, entry) in left.waiting.iter().zip(violations) {
            if !enough(self) {
                self.report(waiting, entry.length())?;
            }
        }
        while !enough(self) {
            let Some(entry) = self.stack.pop() else { break };
            if entry.state == Entry::VIOLATION
                && let Some(waiting) = self.waiting.pop()
            {
                self.report(waiting, entry.length())?;
            }
        }
        Ok(())
    }

    fn finish(mut self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        let truncated =
            stopped.is_none() && (self.beyond > 0 || self.counts.states < self.store.len());
        let exact_order = matches!(self.seen, Seen::Once(_));
        let shortest = self.request.shortest && !matches!(stopped, Some(Stopped::Limit(_)));
        self.counts.memory = self.memory.peak();
        let mut examples = self.findings.into_examples();
        if self.request.shortest {
            keep_shortest(&mut examples, self.request.errors);
        }
        let mut errors = Vec::new();
        for example in examples {
            // SPIN would not have looked at what is ahead of the run that ends its search.
            let ahead = example.path.is_none()
                && exact_order
                && self.run.is_none()
                && stopped == Some(Stopped::Errors);
            let path = example
                .path
                .unwrap_or_else(|| self.stack.iter().filter(|entry| entry.is_open()).collect());
            let worker = &mut self.worker;
            let path = path.iter().map(|entry| {
                let mut key = Vec::new();
                self.store.get(entry.state, &mut key, worker);
                (key, entry.length())
            });
            let run = rebuild(self.system, scratch, path, example.violation, example.length, ahead);
            self.counts.transitions -= run.ahead;
            errors.push(Found {
                violation: example.violation,
                steps: run.steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest,
            });
        }
        Outcome { errors, met: 0, counts: self.counts, stopped, truncated }
    }
}

/// Bytes of a path.
pub(crate) fn path_bytes(states: usize) -> u64 {
    (states * size_of::<Entry>()) as u64
}

/// Takes the successors of one state.
struct Expansion<'e, S, T> {
    system: &'e S,
    memory: &'e Memory,
    counts: &'e mut Counts,
    store: &'e T,
    worker: &'e mut Worker,
    fresh: &'e mut Fresh,
    beyond: &'e mut i64,
    bound: u32,
    depth: u32,
    /// The length of the run by which the state was visited before, or [`Seen::NEVER`].
    before: u32,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<'e, S: System, T: Store> Expansion<'e, S, T> {
    fn of(search: &'e mut Dfs<'_, S, T>, depth: u32, before: u32) -> Self {
        Self {
            system: search.system,
            memory: &search.memory,
            counts: &mut search.counts,
            store: &search.store,
            worker: &mut search.worker,
            fresh: &mut search.fresh,
            beyond: &mut search.beyond,
            bound: search.bound,
            depth,
            before,
            limit: None,
        }
    }

    fn first_visit(&self) -> bool {
        self.before == Seen::NEVER
    }

    fn successor_at(&mut self, state: &[u8], steps: usize) -> Result<(), Limit> {
        let prepared = self.store.prepare(self.system.key(state), self.worker)?;
        self.store.prefetch(prepared);
        self.fresh.states.push(state, self.memory)?;
        let depth = longer(self.depth, steps);
        self.fresh.events.push(Event::State { bytes: state.len(), depth, prepared });
        if steps > 1 {
            // SPIN enters the states inside of an atomic sequence even if its end is known.
            let inside = (depth - 1).min(self.bound);
            self.counts.depth = self.counts.depth.max(inside.into());
        }
        Ok(())
    }
}

impl<S: System, T: Store> Sink for Expansion<'_, S, T> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.counts.transitions += u64::from(self.first_visit());
        unless_hit(self.successor_at(state, length(steps)), &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let depth = longer(self.depth, length(steps));
        let was_beyond = !self.first_visit() && longer(self.before, length(steps)) > self.bound;
        if depth > self.bound {
            *self.beyond += i64::from(self.first_visit());
            return Flow::Continue(());
        }
        *self.beyond -= i64::from(was_beyond);
        self.fresh.events.push(Event::Violation { depth });
        self.fresh.waiting.push(Waiting { violation, counts: self.first_visit() || was_beyond });
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend((bytes + self.fresh.bytes()) as u64), &mut self.limit)
    }
}
