//! Random walks.
//!
//! West, *Protocol validation by random state exploration*, 1986. A walk goes on to any successor of the state it
//! is in, until there is none or it is long enough; then the next one begins. Nothing is remembered, so that no
//! model is too large. With a guide, successors that seem nearer to an error are more likely.
//!
//! *Invariant*: the same walks for a seed. Each walk draws its own numbers, so they do not depend on those before.
//!
//! *Cost*: four bytes for each step of the walk at hand. Each visit to a state counts as a state.

use spinward_guide::{NEVER, Room, Way};
use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};

use super::chance::Chance;
use super::runs::Runs;
use super::{Directed, Range};
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory, Watch, longer, unless_hit};
use crate::outcome::{Counts, Outcome, Progress, Request, Stopped};

/// How many walks there are, unless there is a limit to the time.
pub const WALKS: u64 = 1_000;

/// How many steps a walk has, unless there is another bound.
pub const STEPS: u64 = 10_000;

/// Walks at random, by a seed; also tells the range of the estimates.
pub fn random<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    seed: u64,
    directed: Directed<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Range) {
    let memory = Memory::new(request.limits.memory);
    let mut state = Vec::new();
    system.initial(&mut state);
    let mut room = Room::default();
    let estimate = directed.guide.estimate(&state, Way::default(), &mut room);
    let steps = request.limits.max_depth.unwrap_or(STEPS);
    let mut walks = Walks {
        system,
        request,
        bound: u32::try_from(steps).unwrap_or(u32::MAX / 2),
        path: Buffer::new(&memory),
        runs: Runs::new(request.errors, &memory),
        first: estimate,
        fork: Fork {
            directed,
            chance: Chance::new(seed, 0),
            room,
            range: Range::of(estimate),
            before: estimate,
            successors: 0,
            sum: 0,
            next: Vec::new(),
            taken: None,
            violations: Buffer::new(&memory),
            memory: memory.clone(),
            limit: None,
        },
        counts: Counts::default(),
        state,
        memory,
    };
    let mut watch = Watch::new(&request.limits, progress);
    let stopped = walks.go_on(seed, scratch, &mut watch).err();
    drop(watch);
    let Walks { mut counts, runs, fork, memory, .. } = walks;
    counts.memory = memory.peak();
    let errors = request.limits.undisturbed(|| runs.finish(system, scratch));
    let stopped = Some(stopped.unwrap_or(Stopped::LeftOut(None)));
    (Outcome { errors, met: 0, counts, stopped, truncated: false }, fork.range)
}

struct Walks<'a, S> {
    system: &'a S,
    request: &'a Request,
    memory: Memory,
    /// Longer walks end.
    bound: u32,
    /// The state the walk is in.
    state: Vec<u8>,
    /// The successors it has taken.
    path: Buffer<u32>,
    /// The estimate for the initial state.
    first: u32,
    fork: Fork<'a>,
    runs: Runs,
    counts: Counts,
}

impl<S: System> Walks<'_, S> {
    fn go_on(
        &mut self,
        seed: u64,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let walks = if self.request.limits.time.is_some() { u64::MAX } else { WALKS };
        for walk in 0..walks {
            self.fork.chance = Chance::new(seed, walk);
            self.walk(scratch, watch)?;
        }
        Ok(())
    }

    fn walk(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        self.state.clear();
        self.system.initial(&mut self.state);
        self.path.clear();
        self.fork.before = self.first;
        let mut length = 0;
        self.counts.transitions += 1;
        loop {
            self.visit(length, scratch, watch)?;
            let Some(Taken { index, by, estimate }) = self.fork.taken else { return Ok(()) };
            length = longer(length, by);
            if length > self.bound {
                return Ok(());
            }
            self.path.push(index)?;
            self.fork.before = estimate;
            std::mem::swap(&mut self.state, &mut self.fork.next);
        }
    }

    /// Looks at the state the walk is in, and chooses where to go on.
    fn visit(
        &mut self,
        length: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let Self { counts, fork, .. } = self;
        watch.tick(counts, length, &self.memory)?;
        if counts.states >= self.request.limits.max_states.unwrap_or(u64::MAX) {
            return Err(Stopped::Limit(Limit::States));
        }
        counts.states += 1;
        counts.depth = counts.depth.max(length.into());
        counts.state_bytes = counts.state_bytes.max(self.state.len() as u64);
        fork.begin();
        let flow = self.system.expand(&self.state, scratch, fork);
        counts.transitions += u64::from(fork.successors);
        for &(violation, by) in fork.violations.iter() {
            let total = longer(length, by as usize);
            if total <= self.bound {
                counts.errors += 1;
                self.runs.meet(violation, (total, by), || self.path.to_vec())?;
            }
        }
        watch.broken_off(fork.limit, flow)?;
        counts.expanded += 1;
        Ok(())
    }
}

/// Takes one of the successors of a state.
struct Fork<'a> {
    directed: Directed<'a>,
    chance: Chance,
    room: Room,
    range: Range,
    memory: Memory,
    /// The estimate for the state.
    before: u32,
    /// How many successors there were so far, and what they weigh together.
    successors: u32,
    sum: u64,
    /// One of them.
    taken: Option<Taken>,
    next: Vec<u8>,
    violations: Buffer<(Violation, u32)>,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

/// The successor taken.
#[derive(Clone, Copy)]
struct Taken {
    index: u32,
    by: usize,
    estimate: u32,
}

impl Fork<'_> {
    fn begin(&mut self) {
        (self.successors, self.sum, self.taken) = (0, 0, None);
        self.violations.clear();
    }

    /// How likely a successor is beside others.
    fn weight(&self, estimate: u32) -> u64 {
        match estimate {
            NEVER => 1,
            worse if worse > self.before => 2,
            same if same == self.before => 4,
            _ => 8,
        }
    }
}

impl Sink for Fork<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let way = Way { before: self.before, steps };
        let estimate = self.directed.guide.estimate(state, way, &mut self.room);
        self.range.note(estimate);
        let weight = self.weight(estimate);
        self.sum += weight;
        // So the last one of so many is taken as likely as it weighs, and those before as likely as they do.
        if self.chance.below(self.sum) < weight {
            self.taken = Some(Taken { index: self.successors, by: length(steps), estimate });
            self.next.clear();
            self.next.extend_from_slice(state);
        }
        self.successors += 1;
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let added = self.violations.push((violation, longer(0, length(steps))));
        unless_hit(added, &mut self.limit)
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let lent = self.memory.lend(bytes as u64);
        unless_hit(lent, &mut self.limit)
    }
}
