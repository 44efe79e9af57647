//! Depth-first search that carries the states themselves on its stack.
//!
//! For searches that cannot ask a store for a state: [`crate::stateless`] has none, and those of
//! [`crate::lossy`] do not know their keys; and for those that begin anew again and again
//! ([`crate::directed::ida`]). What is remembered beside the stack is a [`Recall`], and which way the
//! search takes is a [`Course`].
//!
//! *Idea*: as in [`crate::dfs`], a state is expanded when the search comes to it, its successors wait on the
//! stack, the first on top, and count when the search descends into them: the order is SPIN's, unless the course
//! is another. Beside the entry of each lies what changes the state it was reached from into it, and back
//! ([`spinward_store::delta`]), so that only one state is there in full. Successors are hashed while the state is expanded,
//! and looked up when it is: what that needs is then on its way into the cache. One that is unknown is looked up
//! again when its turn comes.
//!
//! *Invariant*: the open entries of the stack are, from the bottom, the states of the current run,
//! and `current` is the last of them. The delta of an entry is to the open entry below it; it begins
//! where that of the entry below ends.
//!
//! *Cost*: eight bytes and a delta, of some ten bytes, for each entry of the stack.

use spinward_guide::Way;
use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::delta::{apply, encode, undo};

use crate::bytes::{Buffer, ByteStack};
use crate::chunked::Chunked;
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, MAX_LENGTH, Memory, Watch, bound, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Request, Stopped};
use crate::rebuild::rebuild;

/// What a search remembers of the states it has visited.
pub(crate) trait Recall {
    /// Whether it is to be told when a state is left.
    const FORGETS: bool;

    /// What looking a state up needs to know of its key. It will be looked up soon.
    fn prepare(&mut self, key: &[u8]) -> Result<u64, Limit>;

    /// Whether there is no need to visit a state by a run of this length.
    fn knows(&mut self, key: &[u8], prepared: u64, length: u32) -> Result<bool, Limit>;

    /// Notes that a state is visited by a run of this length; not if there is no need to.
    fn enter(&mut self, key: &[u8], length: u32, memory: &Memory) -> Result<Visit, Limit>;

    /// All successors of a state are done.
    fn leave(&mut self, _key: &[u8], _memory: &Memory) {}
}

/// Whether a state is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// There is no need to.
    No,
    /// For the first time.
    New,
    /// Once more, by a shorter run.
    Again,
}

impl Visit {
    /// Of a state that is visited if it is new.
    pub fn once(is_new: bool) -> Self {
        if is_new { Self::New } else { Self::No }
    }
}

/// Which way a search takes. That of SPIN does nothing.
pub(crate) trait Course {
    /// Whether it wants to be told again what it told of a state when its successors come.
    const ESTIMATES: bool = false;

    /// Whether its order is SPIN's.
    const IN_ORDER: bool = true;

    /// Whether to go on at all.
    fn go_on(&self) -> Result<(), Limit> {
        Ok(())
    }

    /// How far a state, to which a run of this length leads, is from an error; none if it is not to be visited.
    fn admit(&mut self, _state: &[u8], _way: Way<'_>, _length: u32) -> Option<u32> {
        Some(0)
    }

    /// Whether an error after a run of this length is to be told.
    fn admits_error(&mut self, _length: u32) -> bool {
        true
    }

    /// Puts what came of an expansion in the order in which it is to be met.
    fn arrange(&mut self, _events: &mut [Event]) {}
}

/// SPIN's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Course for Plain {}

/// Runs a search within the time of a watch; gives what it remembers back.
pub(crate) fn search<S: System, R: Recall, C: Course>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    mut watch: Watch<'_>,
    (recall, course): (R, &mut C),
    memory: Memory,
) -> (Outcome, R) {
    let mut search = Carrying {
        system,
        request,
        memory,
        counts: Counts::default(),
        recall,
        course,
        stack: Chunked::new(),
        deltas: ByteStack::default(),
        estimates: Chunked::new(),
        current: Vec::new(),
        delta: Vec::new(),
        violations: Chunked::new(),
        bound: bound(&request.limits),
        truncated: false,
        findings: Findings::new(),
        run_bytes: 0,
        fresh: Fresh::default(),
    };
    let mut stopped = search.run(scratch, &mut watch).err();
    drop(watch);
    if let Some(Stopped::Limit(_)) = stopped {
        // Not `?`: that the limit ended the search stays true.
        let _ = search.report_waiting(scratch);
    } else if search.shortens() && search.findings.len() > 0 {
        // What is longer than the run found was not looked at.
        stopped = Some(Stopped::Errors);
    }
    search.finish(stopped)
}

/// What waits on the stack, or is entered.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Bytes of the delta that leads to the state, or [`Entry::VIOLATION`].
    bytes: u32,
    /// The length of the run up to here; the highest bit tells whether the state was entered.
    depth: u32,
}

impl Entry {
    /// The violation on top of [`Carrying::violations`].
    const VIOLATION: u32 = u32::MAX;
    const OPEN: u32 = !MAX_LENGTH;

    fn is_open(self) -> bool {
        self.depth & Self::OPEN != 0
    }

    fn length(self) -> u32 {
        self.depth & MAX_LENGTH
    }

    /// How many bytes the delta has; none: it is a violation.
    fn delta_bytes(self) -> Option<usize> {
        (self.bytes != Self::VIOLATION).then_some(self.bytes as usize)
    }
}

struct Carrying<'a, S: System, R, C> {
    system: &'a S,
    request: &'a Request,
    memory: Memory,
    counts: Counts,
    recall: R,
    course: &'a mut C,
    stack: Chunked<Entry>,
    deltas: ByteStack,
    /// Of each state on the stack, if the course wants to be told.
    estimates: Chunked<u32>,
    /// The last state of the current run.
    current: Vec<u8>,
    /// Room for a delta.
    delta: Vec<u8>,
    violations: Chunked<Violation>,
    /// Longer runs are not looked at.
    bound: u32,
    truncated: bool,
    findings: Findings<Vec<Step>>,
    /// What the runs there take.
    run_bytes: u64,
    fresh: Fresh,
}

/// Successors and violations of one state.
#[derive(Debug, Default)]
struct Fresh {
    /// In order.
    events: Vec<Event>,
    /// The bytes of the successors.
    states: Buffer,
}

/// What comes of an expansion, after a run of some length.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A successor, of which these are the bytes; `prepared` is what the recall knows of its key.
    State { start: usize, bytes: usize, depth: u32, estimate: u32, prepared: u64 },
    /// Something wrong.
    Violation { violation: Violation, depth: u32 },
}

impl Fresh {
    /// Bytes in use that are not counted.
    fn bytes(&self) -> usize {
        self.events.capacity() * size_of::<Event>()
    }
}

impl<S: System, R: Recall, C: Course> Carrying<'_, S, R, C> {
    /// Whether each error found lowers the bound.
    fn shortens(&self) -> bool {
        self.request.shortest && self.request.errors == 1
    }

    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut state = Vec::new();
        self.system.initial(&mut state);
        let initial = self.expansion(0, 0).successor_at(&state, &[]);
        initial.and_then(|()| self.push_fresh()).map_err(Stopped::Limit)?;
        while let Some(entry) = self.stack.pop() {
            let Some(bytes) = entry.delta_bytes() else {
                if let Some(violation) = self.violations.pop() {
                    self.report(violation, entry.length(), scratch, true)?;
                }
                continue;
            };
            self.deltas.top(bytes, &mut self.delta);
            let estimate = self.estimates.pop().unwrap_or(0);
            if !entry.is_open() {
                state.clone_from(&self.current);
                apply(&self.delta, &mut state);
                let visited = self.visit(entry, estimate, &mut state, scratch, watch);
                if visited.map_err(Stopped::Limit)? {
                    continue;
                }
            } else {
                if R::FORGETS {
                    self.recall.leave(self.system.key(&self.current), &self.memory);
                }
                undo(&self.delta, &mut self.current);
            }
            self.deltas.pop(bytes);
        }
        Ok(())
    }

    /// Enters a state, if there is a need to; it is then the current one.
    fn visit(
        &mut self,
        entry: Entry,
        estimate: u32,
        state: &mut Vec<u8>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<bool, Limit> {
        let depth = entry.length();
        // The bound may have been lowered since.
        if depth > self.bound {
            return Ok(false);
        }
        let visit = self.recall.enter(self.system.key(state), depth, &self.memory)?;
        if visit == Visit::No {
            return Ok(false);
        }
        watch.tick(&self.counts, depth, &self.memory)?;
        self.course.go_on()?;
        if visit == Visit::Again {
            self.counts.reopened += 1;
        } else if self.counts.states < self.request.limits.max_states.unwrap_or(u64::MAX) {
            self.counts.states += 1;
        } else {
            return Err(Limit::States);
        }
        self.counts.depth = self.counts.depth.max(depth.into());
        self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
        if C::ESTIMATES {
            self.estimates.push(estimate, &self.memory)?;
        }
        self.stack.push(Entry { depth: entry.depth | Entry::OPEN, ..entry }, &self.memory)?;
        std::mem::swap(&mut self.current, state);

        let system = self.system;
        let current = std::mem::take(&mut self.current);
        let mut expansion = self.expansion(depth, estimate);
        let flow = system.expand(&current, scratch, &mut expansion);
        let limit = expansion.limit;
        self.current = current;
        self.push_fresh()?;
        watch.broken_off(limit, flow)?;
        self.counts.expanded += 1;
        Ok(true)
    }

    fn expansion(&mut self, depth: u32, estimate: u32) -> Expansion<'_, S, R, C> {
        Expansion {
            system: self.system,
            memory: &self.memory,
            counts: &mut self.counts,
            recall: &mut self.recall,
            course: &mut *self.course,
            fresh: &mut self.fresh,
            bound: self.bound,
            depth,
            estimate,
            truncated: &mut self.truncated,
            limit: None,
        }
    }

    /// Puts what an expansion has brought, and is not known, on the stack, the first on top. What
    /// there is no room for stays.
    fn push_fresh(&mut self) -> Result<(), Limit> {
        self.course.arrange(&mut self.fresh.events);
        while let Some(&event) = self.fresh.events.last() {
            match event {
                Event::State { start, bytes, depth, estimate, prepared } => {
                    let state = &self.fresh.states.all()[start..start + bytes];
                    let new = !self.recall.knows(self.system.key(state), prepared, depth)?;
                    self.truncated |= new && depth > self.bound;
                    if new && depth <= self.bound {
                        self.delta.clear();
                        encode(&self.current, state, &mut self.delta);
                        let bytes = u32::try_from(self.delta.len()).ok();
                        let bytes = bytes.filter(|&it| it != Entry::VIOLATION);
                        let bytes = bytes.ok_or(Limit::Memory)?;
                        self.deltas.push(&self.delta, &self.memory)?;
                        if C::ESTIMATES {
                            self.estimates.push(estimate, &self.memory)?;
                        }
                        self.stack.push(Entry { bytes, depth }, &self.memory)?;
                    }
                }
                Event::Violation { violation, depth } => {
                    self.violations.push(violation, &self.memory)?;
                    let entry = Entry { bytes: Entry::VIOLATION, depth };
                    self.stack.push(entry, &self.memory).inspect_err(|_| {
                        self.violations.pop();
                    })?;
                }
            }
            self.fresh.events.pop();
        }
        self.fresh.states.clear();
        Ok(())
    }

    /// Meets a violation; the run to it is the stack. Only if the search is `on_course` the run that
    /// ends it is a place where SPIN would stop too.
    fn report(
        &mut self,
        violation: Violation,
        length: u32,
        scratch: &mut S::Scratch,
        on_course: bool,
    ) -> Result<(), Stopped> {
        if length > self.bound {
            return Ok(());
        }
        self.counts.errors += 1;
        let shortest = self.request.shortest;
        let wanted = match self.findings.known(violation) {
            Some(example) => shortest && length < example.length,
            None => self.findings.len() < Outcome::MAX_ERRORS,
        };
        let last = !shortest && wanted && self.findings.len() + 1 == self.request.errors;
        let mut stop = if last { Err(Stopped::Errors) } else { Ok(()) };
        if wanted {
            let steps = self.steps(violation, length, scratch, last && on_course && C::IN_ORDER);
            let bytes = |steps: &[Step]| size_of_val(steps) as u64;
            match self.memory.take(bytes(&steps)) {
                Ok(()) => self.run_bytes += bytes(&steps),
                Err(limit) => stop = stop.and(Err(Stopped::Limit(limit))),
            }
            match self.findings.known(violation) {
                Some(example) => {
                    example.violation = violation;
                    example.length = length;
                    let old = std::mem::replace(&mut example.path, steps);
                    self.memory.give_back(bytes(&old));
                    self.run_bytes -= bytes(&old);
                }
                None => self.findings.add(violation, length, steps),
            }
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += 1;
        }
        if self.shortens() {
            self.bound = length.checked_sub(1).ok_or(Stopped::Errors)?;
        }
        stop
    }

    /// The steps of the current run and those that lead to a violation. SPIN would not have looked
    /// at what is ahead of a run that ends its search.
    fn steps(
        &mut self,
        violation: Violation,
        length: u32,
        scratch: &mut S::Scratch,
        ends: bool,
    ) -> Vec<Step> {
        let (deltas, system) = (&self.deltas, self.system);
        let (mut end, mut delta, mut state) = (0, Vec::new(), Vec::new());
        let path = self.stack.iter().filter_map(|entry| {
            let bytes = entry.delta_bytes()?;
            end += bytes;
            entry.is_open().then(|| {
                deltas.read(end - bytes, bytes, &mut delta);
                apply(&delta, &mut state);
                (system.key(&state).to_vec(), entry.length())
            })
        });
        let limits = &self.request.limits;
        let run = limits.undisturbed(|| rebuild(system, scratch, path, violation, length, ends));
        self.counts.transitions -= run.ahead;
        let mut steps = run.steps;
        steps.shrink_to_fit();
        steps
    }

    /// Meets the violations that still wait when a limit ends the search: they were found, though
    /// in the order of the search they would come later.
    fn report_waiting(&mut self, scratch: &mut S::Scratch) -> Result<(), Stopped> {
        // There may have been no memory to put the last ones on the stack.
        let left = std::mem::take(&mut self.fresh.events);
        for event in left {
            if let Event::Violation { violation, depth } = event {
                self.report_one_more(violation, depth, scratch)?;
            }
        }
        while let Some(entry) = self.stack.pop() {
            if entry.delta_bytes().is_none()
                && let Some(violation) = self.violations.pop()
            {
                self.report_one_more(violation, entry.length(), scratch)?;
            }
        }
        Ok(())
    }

    /// Meets a violation unless there are as many as were asked for.
    fn report_one_more(
        &mut self,
        violation: Violation,
        length: u32,
        scratch: &mut S::Scratch,
    ) -> Result<(), Stopped> {
        if self.request.errors > 0 && self.findings.len() >= self.request.errors {
            return Err(Stopped::Errors);
        }
        self.report(violation, length, scratch, false)
    }

    /// Gives back all memory but that of what it remembers: there may be another search.
    fn release(&mut self) {
        let memory = &self.memory;
        self.stack.release(memory);
        self.deltas.release(memory);
        self.estimates.release(memory);
        self.violations.release(memory);
        self.fresh.states.release(memory);
        memory.give_back(self.run_bytes);
    }

    fn finish(mut self, stopped: Option<Stopped>) -> (Outcome, R) {
        self.counts.memory = self.memory.peak();
        self.release();
        let mut examples = self.findings.into_examples();
        if self.request.shortest {
            keep_shortest(&mut examples, self.request.errors);
        }
        let shortest = self.request.shortest && !matches!(stopped, Some(Stopped::Limit(_)));
        let found = examples.into_iter().map(|example| Found {
            violation: example.violation,
            steps: example.path,
            cycle: None,
            occurrences: example.occurrences,
            shortest,
        });
        let outcome = Outcome {
            met: 0,
            errors: found.collect(),
            counts: self.counts,
            truncated: stopped.is_none() && self.truncated,
            stopped,
        };
        (outcome, self.recall)
    }
}

/// Takes the successors of one state.
struct Expansion<'e, S, R, C> {
    system: &'e S,
    memory: &'e Memory,
    counts: &'e mut Counts,
    recall: &'e mut R,
    course: &'e mut C,
    fresh: &'e mut Fresh,
    bound: u32,
    depth: u32,
    estimate: u32,
    truncated: &'e mut bool,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<S: System, R: Recall, C: Course> Expansion<'_, S, R, C> {
    fn successor_at(&mut self, state: &[u8], steps: &[Step]) -> Result<(), Limit> {
        self.counts.transitions += 1;
        let by = length(steps);
        let depth = longer(self.depth, by);
        let way = Way { before: self.estimate, steps };
        let estimate =
            if depth > self.bound { Some(0) } else { self.course.admit(state, way, depth) };
        let Some(estimate) = estimate else { return Ok(()) };
        let prepared = self.recall.prepare(self.system.key(state))?;
        let (start, bytes) = (self.fresh.states.all().len(), state.len());
        self.fresh.states.push(state, self.memory)?;
        self.fresh.events.push(Event::State { start, bytes, depth, estimate, prepared });
        if by > 1 {
            // SPIN enters the states inside of an atomic sequence even if its end is known.
            let inside = (depth - 1).min(self.bound);
            self.counts.depth = self.counts.depth.max(inside.into());
        }
        Ok(())
    }
}

impl<S: System, R: Recall, C: Course> Sink for Expansion<'_, S, R, C> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        unless_hit(self.successor_at(state, steps), &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let depth = longer(self.depth, length(steps));
        if depth > self.bound {
            *self.truncated = true;
        } else if self.course.admits_error(depth) {
            self.fresh.events.push(Event::Violation { violation, depth });
        }
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend((bytes + self.fresh.bytes()) as u64), &mut self.limit)
    }
}
