//! A sweep by one thread that remembers how it came to each state: finds a run to what a sweep met.
//!
//! *Idea*: states are looked at in the order of a [sweep](super::all_states) by one thread, so an
//! error that was met soon is met soon again; each state has a line in a log that says from which
//! state it came, as which successor, and how long the run to it is.
//!
//! *Cost*: twelve bytes a state besides what a sweep takes.

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::{Density, Flat};

use super::all_states::{BATCH, Stack};
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory, Watch, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::{Goal, follow};

/// How a state was reached.
#[derive(Clone, Copy)]
struct Origin {
    parent: u32,
    /// As which successor of it.
    successor: u32,
    /// The length of the run.
    length: u32,
}

/// An error, the state on the way out of which it shows, and the length of the run to it.
type Met = (Violation, u32, u32);

/// Looks for one error.
pub(super) fn retrace<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let memory = Memory::new(request.limits.memory);
    let mut log = Buffer::new(&memory);
    let mut counts = Counts { transitions: 1, ..Counts::default() };
    let mut watch = Watch::new(&request.limits, progress);
    let met = search(system, scratch, request, &memory, &mut log, &mut counts, &mut watch);
    drop(watch);
    counts.memory = memory.peak();
    let (errors, stopped) = match met {
        Ok(None) => (Vec::new(), None),
        Err(limit) => (Vec::new(), Some(Stopped::Limit(limit))),
        Ok(Some((violation, state, total))) => {
            counts.errors = 1;
            let mut goals = vec![Goal::Violation(violation, total)];
            let mut at = state;
            while at != 0 {
                goals.push(Goal::Successor(log[at as usize].successor));
                at = log[at as usize].parent;
            }
            let follow = || follow(system, scratch, goals.into_iter().rev(), false).steps;
            let steps = request.limits.undisturbed(follow);
            let found = Found { violation, steps, occurrences: 1, shortest: false };
            (vec![found], Some(Stopped::Errors))
        }
    };
    Outcome { errors, met: 0, counts, stopped, truncated: false }
}

fn search<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    memory: &Memory,
    log: &mut Buffer<Origin>,
    counts: &mut Counts,
    watch: &mut Watch<'_>,
) -> Result<Option<Met>, Limit> {
    let mut set = Flat::new(Density::Fast, memory.budget());
    let mut waiting = Stack::new(memory);
    let mut numbers = Buffer::new(memory);
    let mut fresh = Fresh::new(memory);
    let mut initial = Vec::new();
    system.initial(&mut initial);
    fresh.push(&initial, Origin { parent: 0, successor: 0, length: 0 })?;
    loop {
        let mut start = 0;
        for &(end, origin) in &*fresh.states {
            let state = &fresh.bytes[start..end];
            start = end;
            if set.insert(state, Flat::hash(state))? {
                if counts.states >= request.limits.max_states.unwrap_or(u64::MAX) {
                    return Err(Limit::States);
                }
                counts.states += 1;
                counts.state_bytes = counts.state_bytes.max(state.len() as u64);
                numbers.push(log.len() as u32)?;
                log.push(origin)?;
                waiting.push(state)?;
            }
        }
        fresh.clear();
        for _ in 0..BATCH {
            let (Some(state), Some(number)) = (waiting.top(), numbers.pop()) else {
                break;
            };
            fresh.begin(number, log[number as usize].length);
            let flow = system.expand(state, scratch, &mut fresh);
            counts.transitions += u64::from(fresh.successors);
            if fresh.met.is_some() {
                return Ok(fresh.met);
            }
            watch.broken_off(fresh.limit, flow)?;
            waiting.pop();
            counts.expanded += 1;
        }
        if fresh.states.is_empty() && waiting.is_empty() {
            return Ok(None);
        }
        watch.tick(counts, 0, memory)?;
    }
}

/// Successors that are not looked up yet.
struct Fresh {
    bytes: Buffer<u8>,
    /// Where each ends, and how it was reached.
    states: Buffer<(usize, Origin)>,
    parent: u32,
    length: u32,
    /// Of the state that is expanded, so far.
    successors: u32,
    met: Option<Met>,
    limit: Option<Limit>,
}

impl Fresh {
    fn new(memory: &Memory) -> Self {
        Self {
            bytes: Buffer::new(memory),
            states: Buffer::new(memory),
            parent: 0,
            length: 0,
            successors: 0,
            met: None,
            limit: None,
        }
    }

    fn begin(&mut self, parent: u32, length: u32) {
        (self.parent, self.length, self.successors) = (parent, length, 0);
    }

    fn push(&mut self, state: &[u8], origin: Origin) -> Result<(), Limit> {
        self.bytes.extend_from_slice(state)?;
        self.states.push((self.bytes.len(), origin))
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.states.clear();
    }
}

impl Sink for Fresh {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let length = longer(self.length, length(steps));
        let origin = Origin { parent: self.parent, successor: self.successors, length };
        self.successors += 1;
        let pushed = self.push(state, origin);
        unless_hit(pushed, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.met = Some((violation, self.parent, longer(self.length, length(steps))));
        Flow::Break(())
    }
}
