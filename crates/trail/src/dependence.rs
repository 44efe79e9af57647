//! Which steps of a run could change places, and which have to do with each other.
//!
//! A run is taken apart into *units*: a move, or an atomic sequence as far as it goes without a break. Two units
//! can change places if neither looks at what the other changes ([`spinward_machine::Touches`]); that gives an
//! order in which only some of them stand. What a claim, an invariant or a formula asks about must not change
//! unseen, so that units that change such things keep their place in the run, and so do those that ask what all
//! others can do (`timeout`): they are *fixed*, and others do not pass them.

use std::collections::HashMap;
use std::ops::Range;

use spinward_machine::{Machine, QueueUse, Scratch, Step, System as _, Touches, Violation};

use crate::replay::{Misfit, Outcome, replay};

/// Steps that stay together: a move, or an atomic sequence.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Its steps in the run, none of which is the claim's.
    pub steps: Range<usize>,
    /// Who moves first in it.
    pub first: u16,
    /// Who moves last in it.
    pub last: u16,
    /// Units of the same segment that must come before it.
    pub after: Vec<u32>,
    /// Units whose effects it sees, in a cycle also those of the round before.
    pub sees: Vec<u32>,
    /// Whether it sees all of the others.
    pub sees_all: bool,
    /// Units of another segment stay before or behind it.
    pub segment: u32,
}

/// A run taken apart.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The units, in the order of the run.
    pub units: Vec<Unit>,
    /// By unit, and for what comes after the last: the steps of the claim before it.
    pub claims: Vec<Range<usize>>,
    /// The first unit of the cycle.
    pub cycle: Option<usize>,
    /// Units whose effects make the error; all of them if that cannot be told.
    pub error: Vec<u32>,
    /// Where the run ends, and what is wrong there.
    pub outcome: Outcome,
}

/// Takes a run apart. `watched` are the conditions of the program whose values along the run matter, beside those
/// that the machine watches itself.
pub fn dependence(
    machine: &Machine,
    steps: &[Step],
    cycle_start: Option<usize>,
    watched: &[u32],
) -> Result<Dependence, Misfit> {
    let mut conditions = machine.options().invariants.clone();
    conditions.extend_from_slice(watched);
    let mut taken = Taken {
        machine,
        scratch: machine.scratch(),
        cycle_start,
        conditions,
        units: Vec::new(),
        claims: vec![Range::default()],
        asked: Touches::default(),
        cycle: None,
        alone: None,
        wrong: Vec::new(),
    };
    if !taken.conditions.is_empty() {
        let start = machine.start().state;
        let asked = machine.touches_of_conditions(&start, &taken.conditions);
        taken.ask(asked);
    }
    let outcome = replay(machine, steps, &mut |event| taken.meet(event))?;
    Ok(taken.finish(outcome))
}

/// A run that is being taken apart.
struct Taken<'a> {
    machine: &'a Machine,
    scratch: Scratch,
    cycle_start: Option<usize>,
    conditions: Vec<u32>,
    units: Vec<Met>,
    claims: Vec<Range<usize>>,
    /// What claim and conditions look at anywhere.
    asked: Touches,
    cycle: Option<usize>,
    /// The process that goes on alone.
    alone: Option<u16>,
    /// What went wrong in the last move.
    wrong: Vec<Violation>,
}

/// A unit, and what its moves touch.
#[derive(Default)]
struct Met {
    unit: Unit,
    touches: Vec<Touches>,
    /// Whether it ends, or starts, inside of an atomic sequence.
    broken: bool,
}

impl Taken<'_> {
    fn meet(&mut self, event: &crate::replay::Event<'_>) {
        let touches = self.machine.touches(event.before, event.steps, &mut self.scratch);
        let range = event.index..event.index + event.steps.len();
        if event.steps[0].is_claim() {
            self.ask(touches);
            let claims = self.claims.last_mut().expect("one more than units");
            if claims.start == claims.end {
                claims.start = range.start;
            }
            claims.end = range.end;
            return;
        }
        let starts_cycle = self.cycle.is_none()
            && self.cycle_start.is_some_and(|start| {
                let claims = self.claims.last().expect("one more than units");
                start == range.start || claims.contains(&start)
            });
        let first = event.steps[0].process;
        let alone = self.alone.take();
        let goes_on = alone == Some(first) && self.claims.last().is_some_and(Range::is_empty);
        if goes_on && !starts_cycle {
            let met = self.units.last_mut().expect("somebody goes on");
            met.unit.steps.end = range.end;
            met.touches.push(touches);
        } else {
            // Whoever could go on alone and does not waits for something; so others come in just here.
            if let Some(met) = self.units.last_mut() {
                met.broken |= alone.is_some();
            }
            if starts_cycle {
                self.cycle = Some(self.units.len());
            }
            let unit = Unit { steps: range.clone(), first, ..Unit::default() };
            self.units.push(Met { unit, touches: vec![touches], broken: goes_on });
            self.claims.push(range.end..range.end);
        }
        let met = self.units.last_mut().expect("just added");
        met.unit.last = event.steps[event.steps.len() - 1].process;
        self.wrong = event.violations.to_vec();
        let claims = self.claims.last_mut().expect("one more than units");
        *claims = range.end..range.end;
        self.alone = event.after.and_then(|after| after.exclusive);
        if let Some(after) = event.after.filter(|_| self.alone.is_none())
            && !self.conditions.is_empty()
        {
            let asked = self.machine.touches_of_conditions(&after.state, &self.conditions);
            self.ask(asked);
        }
    }

    /// Notes what claim or conditions look at.
    fn ask(&mut self, touches: Touches) {
        self.asked.movers |= touches.movers;
        for range in touches.read {
            if !self.asked.read.contains(&range) {
                self.asked.read.push(range);
            }
        }
    }

    fn finish(mut self, outcome: Outcome) -> Dependence {
        let count = self.units.len();
        // A run may end where somebody could go on alone.
        if let (Some(met), Some(_)) = (self.units.last_mut(), self.alone) {
            met.broken = true;
        }
        let is_watched = !self.asked.read.is_empty() || self.asked.movers;
        let mut seen = Vec::new();
        let mut segment = 0;
        for (number, met) in self.units.iter_mut().enumerate() {
            let visible = is_watched && met.touches.iter().any(|it| changes(it, &self.asked));
            if visible {
                seen.push(number as u32);
            }
            let asks_movers = met.touches.iter().any(|it| it.movers);
            // What goes wrong goes wrong at the end; but that nobody can move, or cannot without a mistake, is so whoever
            // came there last.
            let by_last = |it: &Violation| match it {
                Violation::InvalidEndState => false,
                Violation::Runtime(..) => self.wrong.contains(it),
                _ => true,
            };
            let ends = number + 1 == count && outcome.violations.iter().any(by_last);
            let fixed = visible || asks_movers || met.broken || self.asked.movers || ends;
            if fixed || self.cycle == Some(number) {
                segment += 1;
            }
            met.unit.segment = segment;
            segment += u32::from(fixed);
        }
        let mut memory = Memory::default();
        for (number, met) in self.units.iter_mut().enumerate() {
            memory.meet(number as u32, met, true);
        }
        let error = self.error(&outcome, seen, &memory);
        // In the next round of a cycle a unit may see what others did in this one.
        if let Some(start) = self.cycle {
            for (number, met) in self.units.iter_mut().enumerate().skip(start) {
                memory.meet(number as u32, met, false);
            }
        }
        let segments: Vec<u32> = self.units.iter().map(|met| met.unit.segment).collect();
        let mut units: Vec<Unit> = self.units.into_iter().map(|met| met.unit).collect();
        for (number, unit) in units.iter_mut().enumerate() {
            unit.after.retain(|&other| segments[other as usize] == segments[number]);
            for list in [&mut unit.after, &mut unit.sees] {
                list.sort_unstable();
                list.dedup();
            }
        }
        Dependence { units, claims: self.claims, cycle: self.cycle, error, outcome }
    }

    /// The units whose effects make the errors.
    fn error(&mut self, outcome: &Outcome, seen: Vec<u32>, memory: &Memory) -> Vec<u32> {
        let count = self.units.len() as u32;
        let last = count.checked_sub(1);
        if outcome.violations.is_empty() {
            // A cycle has to go on: with who closes it, beside what is seen of it.
            return match (self.cycle, seen.is_empty()) {
                (Some(start), true) => (start as u32..count).collect(),
                _ => seen.into_iter().chain(last).collect(),
            };
        }
        let mut units: Vec<u32> = Vec::new();
        for &violation in &outcome.violations {
            units.extend(match violation {
                // Something is wrong with what somebody tries in the last state, whoever came there last.
                Violation::Runtime(..) if !self.wrong.contains(&violation) => {
                    let state = &outcome.last.state;
                    memory.seen_by(&self.machine.touches_of_rest(state, &mut self.scratch))
                }
                Violation::Assertion(_)
                | Violation::Runtime(..)
                | Violation::TraceMismatch
                | Violation::TraceComplete => last.into_iter().collect(),
                Violation::Invariant(number) | Violation::InvariantUndefined(number, _) => {
                    let state = &outcome.last.state;
                    memory.seen_by(&self.machine.touches_of_conditions(state, &[number]))
                }
                Violation::InvalidEndState | Violation::TraceUnfinished => {
                    let state = &outcome.last.state;
                    let mut touches = self.machine.touches_of_rest(state, &mut self.scratch);
                    if violation == Violation::TraceUnfinished {
                        touches.read.push(0..state.len() as u32);
                    }
                    memory.seen_by(&touches)
                }
                Violation::ClaimEnd => seen.iter().copied().chain(last).collect(),
                Violation::Cycle
                | Violation::TooManyForFairness
                | Violation::NotExclusive { .. } => (0..count).collect(),
            });
        }
        units.sort_unstable();
        units.dedup();
        units
    }
}

/// Whether what one changes is what the other looks at.
fn changes(one: &Touches, other: &Touches) -> bool {
    let queue = one.queue.iter().map(|queue| &queue.bytes);
    let mut written = one.written.iter().chain(queue);
    written.any(|mine| other.read.iter().any(|its| mine.start < its.end && its.start < mine.end))
}

/// Who last changed each byte, and who looked at it since.
#[derive(Default)]
struct Memory {
    bytes: Vec<Byte>,
    /// By where a channel starts: who used it as a queue since it was last changed otherwise.
    queues: HashMap<u32, Queue>,
}

#[derive(Clone, Default)]
struct Byte {
    writer: Option<u32>,
    /// Of each process the last one; those before it come first anyway.
    readers: Vec<(u16, u32)>,
}

#[derive(Default)]
struct Queue {
    /// How many messages it held then.
    held: usize,
    sends: Vec<u32>,
    receives: Vec<u32>,
}

impl Queue {
    /// Units of which somebody sees something who looks into the channel.
    fn seen(&self) -> impl Iterator<Item = u32> {
        let gone = self.receives.len().saturating_sub(self.held).min(self.sends.len());
        self.sends[gone..].iter().chain(self.receives.last()).copied()
    }

    fn last(&self) -> impl Iterator<Item = u32> {
        self.sends.last().into_iter().chain(self.receives.last()).copied()
    }
}

impl Memory {
    fn byte(&mut self, at: u32) -> &mut Byte {
        let at = at as usize;
        if self.bytes.len() <= at {
            self.bytes.resize(at + 1, Byte::default());
        }
        &mut self.bytes[at]
    }

    /// Follows a unit, noting which units it sees and, in the first round, which must come before it.
    fn meet(&mut self, number: u32, met: &mut Met, first_round: bool) {
        let (mut sees, mut after) = (Vec::new(), Vec::new());
        let process = met.unit.first;
        for touches in &met.touches {
            for at in touches.read.iter().flat_map(Clone::clone) {
                if let Some(queue) = self.queues.get(&at) {
                    sees.extend(queue.seen());
                }
                let byte = self.byte(at);
                sees.extend(byte.writer);
                match byte.readers.iter_mut().find(|(reader, _)| *reader == process) {
                    Some((_, unit)) => *unit = number,
                    None => byte.readers.push((process, number)),
                }
            }
            for at in touches.written.iter().flat_map(Clone::clone) {
                if let Some(queue) = self.queues.remove(&at) {
                    after.extend(queue.last());
                }
                let byte = self.byte(at);
                after.extend(byte.readers.drain(..).map(|(_, unit)| unit));
                after.extend(byte.writer.replace(number));
            }
            if let Some(queue) = &touches.queue {
                self.pass(number, queue, &mut sees, &mut after);
            }
            met.unit.sees_all |= touches.movers;
        }
        if first_round {
            after.extend(sees.iter().copied().filter(|&other| other < number));
            after.retain(|&other| other != number);
            met.unit.after.append(&mut after);
        }
        sees.retain(|&other| other != number);
        met.unit.sees.append(&mut sees);
    }

    /// A message is put in, or taken out: what is put in needs room, what is taken out must be there.
    fn pass(&mut self, number: u32, used: &QueueUse, sees: &mut Vec<u32>, after: &mut Vec<u32>) {
        let start = used.bytes.start;
        let byte = self.byte(start);
        sees.extend(byte.writer);
        after.extend(byte.readers.iter().map(|(_, unit)| *unit));
        let queue = self
            .queues
            .entry(start)
            .or_insert_with(|| Queue { held: used.waiting, ..Queue::default() });
        if used.send {
            after.extend(queue.sends.last());
            let sent = queue.held + queue.sends.len() + 1;
            let needed = sent.checked_sub(used.capacity + 1);
            sees.extend(needed.and_then(|index| queue.receives.get(index)));
            queue.sends.push(number);
        } else {
            sees.extend(queue.receives.last());
            let taken = queue.receives.len().checked_sub(queue.held);
            sees.extend(taken.and_then(|index| queue.sends.get(index)));
            queue.receives.push(number);
        }
    }

    /// The units of which something is seen.
    fn seen_by(&self, touches: &Touches) -> Vec<u32> {
        let mut seen = Vec::new();
        for at in touches.read.iter().flat_map(Clone::clone) {
            seen.extend(self.bytes.get(at as usize).and_then(|byte| byte.writer));
            seen.extend(self.queues.get(&at).into_iter().flat_map(Queue::seen));
        }
        seen.sort_unstable();
        seen.dedup();
        seen
    }
}

impl Dependence {
    /// By step of the run, those of the claim too: whether it makes no difference to the error. The others alone
    /// lead to it as well, if no claim counts the steps.
    pub fn dimmed(&self, steps: usize) -> Vec<bool> {
        let mut needed = vec![false; self.units.len()];
        let mut waiting = self.error.clone();
        while let Some(unit) = waiting.pop() {
            if std::mem::replace(&mut needed[unit as usize], true) {
                continue;
            }
            let Unit { sees, sees_all, .. } = &self.units[unit as usize];
            waiting.extend_from_slice(sees);
            if *sees_all {
                let end = if self.cycle.is_some() { needed.len() as u32 } else { unit };
                waiting.extend((0..end).filter(|&other| !needed[other as usize]));
            }
        }
        let mut dimmed = vec![false; steps];
        for (unit, _) in self.units.iter().zip(needed).filter(|(_, needed)| !needed) {
            dimmed[unit.steps.clone()].fill(true);
        }
        dimmed
    }

    /// The steps of the run with its units in another order. Those of the claim stay where they are.
    pub fn reordered(&self, steps: &[Step], order: &[u32]) -> Vec<Step> {
        let mut all = Vec::with_capacity(steps.len());
        for (place, &unit) in order.iter().enumerate() {
            all.extend_from_slice(&steps[self.claims[place].clone()]);
            all.extend_from_slice(&steps[self.units[unit as usize].steps.clone()]);
        }
        all.extend_from_slice(&steps[self.claims[order.len()].clone()]);
        all
    }
}
