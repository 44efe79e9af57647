//! A sweep by one thread that remembers how it came to each state: finds a run to what a sweep met.
//!
//! *Idea*: states are looked at in the order of a [sweep](super::all_states) by one thread, so an
//! error that was met soon is met soon again; each state has a line in a log that says from which
//! state it came, as which successor, and how long the run to it is.
//!
//! *Cost*: twelve bytes a state besides what a sweep takes.

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};

use super::all_states::BATCH;
use super::form::{Form, Packed};
use super::known::Known;
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory, Watch, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::{Goal, Order, follow};

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
            let follow =
                || follow(system, scratch, goals.into_iter().rev(), Order::Whole, false).steps;
            let steps = request.limits.undisturbed(follow);
            let found = Found { violation, steps, cycle: None, occurrences: 1, shortest: false };
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
    let mut known = Known::new(Packed::new(system), memory);
    let mut numbers = Buffer::new(memory);
    let mut origins = Buffer::new(memory);
    let mut state = Vec::new();
    system.initial(&mut state);
    known.add(&state)?;
    origins.push(Origin { parent: 0, successor: 0, length: 0 })?;
    loop {
        let mut added = origins.iter();
        known.settle(|new| {
            let origin = added.next().expect("each state that was added has one");
            if !new {
                return Ok(());
            }
            if counts.states >= request.limits.max_states.unwrap_or(u64::MAX) {
                return Err(Limit::States);
            }
            counts.states += 1;
            numbers.push(log.len() as u32)?;
            log.push(*origin)
        })?;
        if known.is_due() {
            Known::renew(&mut [&mut known], |_| 0)?;
        }
        origins.clear();
        for _ in 0..BATCH {
            if !known.next(&mut state) {
                break;
            }
            known.pop();
            let number: u32 = numbers.pop().expect("each state that waits has one");
            counts.state_bytes = counts.state_bytes.max(state.len() as u64);
            let mut expansion = Expansion {
                known: &mut known,
                origins: &mut origins,
                parent: number,
                length: log[number as usize].length,
                successors: 0,
                met: None,
                limit: None,
            };
            let flow = system.expand(&state, scratch, &mut expansion);
            let Expansion { successors, met, limit, .. } = expansion;
            counts.transitions += u64::from(successors);
            if met.is_some() {
                return Ok(met);
            }
            watch.broken_off(limit, flow)?;
            counts.expanded += 1;
        }
        if origins.is_empty() && known.all_done() {
            return Ok(None);
        }
        watch.tick(counts, 0, memory)?;
    }
}

/// Takes the successors of one state.
struct Expansion<'e, F> {
    known: &'e mut Known<F>,
    /// How each state that was added was reached.
    origins: &'e mut Buffer<Origin>,
    parent: u32,
    length: u32,
    successors: u32,
    met: Option<Met>,
    limit: Option<Limit>,
}

impl<F: Form> Sink for Expansion<'_, F> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let length = longer(self.length, length(steps));
        let origin = Origin { parent: self.parent, successor: self.successors, length };
        self.successors += 1;
        let added = self.known.add(state).and_then(|_| self.origins.push(origin));
        unless_hit(added, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.met = Some((violation, self.parent, longer(self.length, length(steps))));
        Flow::Break(())
    }
}
