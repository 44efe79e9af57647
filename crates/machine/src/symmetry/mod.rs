//! The machine with one state for all that differ only in which of interchangeable processes is which.
//!
//! What is interchangeable is told by [`Symmetry`]; `members.rs` finds out who that is in a state, `normal.rs`
//! chooses the one state. Its moves are those of the machine; where they lead is put in order again. So a run
//! from such state to state is no run of the machine, but [`System::tell`] makes one of it.

mod members;
mod normal;

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use spinward_program::ir::{Action, Automaton};
use spinward_program::optimize::Watched;
use spinward_program::symmetry::{BodySorts, Cell, Conditions, NotSymmetric, Symmetry};

use crate::explore::Scratch;
use crate::machine::{Machine, Move};
use crate::system::{Flow, Sink, Step, System};
use crate::violation::Violation;
use members::Members;
use normal::Room;

/// So many states of random runs are looked at to find out whether it pays.
const SAMPLES: usize = 2000;

/// After so many steps another run is begun.
const LONGEST_SAMPLE: usize = 250;

/// So many successors of a state are looked at, so much memory is taken for it, and so much time for all of them: a model
/// may have moves that never end.
const MOST_SUCCESSORS: usize = 1 << 12;
const MOST_MEMORY: usize = 1 << 26;
const LONGEST: Duration = Duration::from_secs(1);

/// It pays if it saves one state out of so many.
const PAYS_FROM: usize = 8;

/// A machine of which states that differ only in who is who are one.
#[derive(Debug)]
pub struct Quotient<'m> {
    machine: &'m Machine,
    symmetry: Symmetry,
    /// The globals that matter and may change.
    globals: Vec<Cell>,
    /// By body: the parts of a process's block that hold nobody's name.
    parts: Vec<Vec<Range<usize>>>,
    /// By shape: the members that were found.
    known: RwLock<Known>,
}

/// What is known of members.
#[derive(Debug, Default)]
struct Known {
    /// By number of a shape: those of some of its states.
    first: FxHashMap<u32, Arc<Members>>,
    /// By that and what never changes in a state.
    members: FxHashMap<(u32, u64), Vec<Arc<Members>>>,
    /// Bytes they take, about.
    bytes: usize,
}

impl Known {
    /// Those of a state of a shape.
    fn get(&self, shape: u32, state: &[u8]) -> Option<Arc<Members>> {
        let kind = self.first.get(&shape)?.kind_of(state);
        self.members.get(&(shape, kind))?.iter().find(|it| it.suit(state)).cloned()
    }

    fn add(&mut self, shape: u32, state: &[u8], members: &Arc<Members>) {
        self.bytes += members.bytes();
        self.first.entry(shape).or_insert_with(|| members.clone());
        self.members.entry((shape, members.kind_of(state))).or_default().push(members.clone());
    }
}

/// Room to work in.
#[derive(Debug)]
pub struct QuotientScratch {
    machine: Scratch,
    room: Room,
    state: Vec<u8>,
}

impl<'m> Quotient<'m> {
    /// Of a machine, or why all its processes must be told apart.
    pub fn new(machine: &'m Machine, conditions: Conditions) -> Result<Self, NotSymmetric> {
        let options = machine.options();
        let watched = Watched {
            claim: options.claim,
            conditions: options.conditions(),
            ..Watched::default()
        };
        let program = machine.program();
        let symmetry = Symmetry::new(program, &watched, options.trace, conditions)?;
        let bodies = program.automata.iter().zip(&symmetry.bodies);
        let parts = bodies.map(|(automaton, body)| machine.nameless(automaton, body)).collect();
        let globals = symmetry.globals.iter().filter(|cell| !cell.constant).copied().collect();
        Ok(Self { machine, symmetry, globals, parts, known: RwLock::default() })
    }

    /// Why it does not pay, if random runs tell so, in less than a time: hardly any states are alike.
    pub fn why_not(&self, time: Option<Duration>) -> Option<&'static str> {
        let mut scratch = self.scratch();
        let mut state = Vec::new();
        let mut random = 1_u64;
        let (mut looked_at, mut alike) = (0, 0);
        let end = Instant::now() + time.map_or(LONGEST, |time| LONGEST.min(time / 4));
        'runs: while looked_at < SAMPLES && !self.machine.stopped() {
            self.machine.initial(&mut state);
            for _ in 0..LONGEST_SAMPLE {
                let mut all = Successors { states: Vec::new(), end };
                let _ = self.machine.expand(&state, &mut scratch.machine, &mut all);
                looked_at += 1;
                if Instant::now() > end {
                    break 'runs;
                }
                // Not the best of random numbers, but the same each time.
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let Some(next) = all.states.len().checked_sub(1) else {
                    break;
                };
                state = all.states.swap_remove((random >> 33) as usize % (next + 1));
                let mut normal = state.clone();
                self.normalize(&mut normal, &mut scratch.room);
                alike += usize::from(normal != state);
            }
        }
        let known = self.known.read().expect("no panic while locked");
        if known.members.values().flatten().all(|members| members.sets.is_empty()) {
            Some("no two processes are interchangeable")
        } else if alike * PAYS_FROM <= looked_at {
            Some("states that differ only in which process is which are rare")
        } else {
            None
        }
    }

    /// What the machine collected.
    pub fn machine_scratch(&self, scratch: QuotientScratch) -> Scratch {
        let QuotientScratch { mut machine, mut room, mut state } = scratch;
        // Some may be done from the start.
        self.machine.initial(&mut state);
        self.normalize(&mut state, &mut room);
        for death in room.deaths {
            machine.findings.tried[death.0 as usize] = true;
        }
        machine
    }

    /// The steps with the processes' names in the machine.
    fn rename_back(&self, steps: &[Step]) -> Vec<Step> {
        let mut scratch = self.scratch();
        let mut state = Vec::new();
        self.machine.initial(&mut state);
        let mut names = Vec::new();
        let mut renamed = Vec::new();
        loop {
            self.normalize(&mut state, &mut scratch.room);
            names = scratch.room.rename(&names);
            let left = &steps[renamed.len()..];
            let mut ahead = Ahead { steps: left, found: None };
            let _ = self.machine.expand(&state, &mut scratch.machine, &mut ahead);
            let (next, taken) = ahead.found.map_or((None, left.len()), |(s, n)| (Some(s), n));
            renamed.extend(left[..taken].iter().map(
                |step| match names.get(step.process as usize) {
                    Some(&name) if !step.is_claim() => Step { process: name as u16, ..*step },
                    _ => *step,
                },
            ));
            match next {
                Some(next) if renamed.len() < steps.len() => state = next,
                _ => return renamed,
            }
        }
    }
}

impl Room {
    /// By number of a process: its name, given those before its state was put in order; a new one is named by its
    /// number.
    fn rename(&self, names: &[usize]) -> Vec<usize> {
        let mut renamed: Vec<usize> = (0..self.numbers.len()).collect();
        for (before, &now) in self.numbers.iter().enumerate() {
            renamed[now] = names.get(before).copied().unwrap_or(before);
        }
        renamed
    }
}

impl Machine {
    /// The parts of the block of a process that hold nobody's name.
    fn nameless(&self, automaton: &Automaton, body: &BodySorts) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = 0;
        for cell in &body.cells {
            let at = self.header.process + cell.offset as usize;
            parts.push(start..at);
            start = at + cell.scalar.bytes() as usize;
        }
        parts.push(start..self.header.process + automaton.locals.bytes as usize);
        parts.retain(|part| !part.is_empty());
        parts
    }
}

/// Successors of a state, as many as can be told soon.
struct Successors {
    states: Vec<Vec<u8>>,
    end: Instant,
}

impl Sink for Successors {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        self.states.push(state.to_vec());
        let count = self.states.len();
        let enough = count == MOST_SUCCESSORS || count * state.len() > MOST_MEMORY;
        if enough { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let enough = bytes > MOST_MEMORY || Instant::now() > self.end;
        if enough { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

/// The successor that steps lead to first, and how many of them.
struct Ahead<'a> {
    steps: &'a [Step],
    found: Option<(Vec<u8>, usize)>,
}

impl Sink for Ahead<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if self.steps.starts_with(steps) {
            self.found = Some((state.to_vec(), steps.len()));
            return Flow::Break(());
        }
        Flow::Continue(())
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        Flow::Continue(())
    }
}

/// Puts successors in order.
struct InOrder<'a, 'm> {
    quotient: &'a Quotient<'m>,
    room: &'a mut Room,
    state: &'a mut Vec<u8>,
    sink: &'a mut dyn Sink,
}

impl Sink for InOrder<'_, '_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        // There may be many, and each takes its time.
        if self.quotient.machine.stopped() {
            return Flow::Break(());
        }
        self.state.clear();
        self.state.extend_from_slice(state);
        self.quotient.normalize(self.state, self.room);
        self.sink.successor(self.state, steps)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.sink.violation(violation, steps)
    }

    fn needs_steps(&self) -> bool {
        self.sink.needs_steps()
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes)
    }
}

impl System for Quotient<'_> {
    type Scratch = QuotientScratch;

    fn scratch(&self) -> QuotientScratch {
        let (room, state) = Default::default();
        QuotientScratch { machine: self.machine.scratch(), room, state }
    }

    fn absorb(&self, scratch: &mut QuotientScratch, other: QuotientScratch) {
        let other = self.machine_scratch(other);
        self.machine.absorb(&mut scratch.machine, other);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.machine.initial(out);
        self.normalize(out, &mut Room::default());
    }

    fn names(&self) -> Vec<u8> {
        self.machine.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.machine.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut QuotientScratch, sink: &mut dyn Sink) -> Flow {
        let QuotientScratch { machine, room, state: next } = scratch;
        let mut sink = InOrder { quotient: self, room, state: next, sink };
        self.machine.expand(state, machine, &mut sink)
    }

    fn alone(&self, state: &[u8], from: usize, ever: bool) -> Option<usize> {
        self.machine.alone(state, from, ever)
    }

    fn expand_alone(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut QuotientScratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        let QuotientScratch { machine, room, state: next } = scratch;
        let mut sink = InOrder { quotient: self, room, state: next, sink };
        self.machine.expand_alone(state, actor, machine, &mut sink)
    }

    /// The run of the machine. Processes that died at once here may have to die there before others can go on.
    fn tell(&self, steps: Vec<Step>, violation: Violation) -> Vec<Step> {
        let Self { machine, .. } = self;
        let renamed = self.rename_back(&steps);
        let mut run = Vec::new();
        let mut scratch = machine.scratch();
        let mut config = machine.start();
        let mut next = 0;
        loop {
            let (moves, _) = machine.moves(&config, &mut scratch);
            let fits = |it: &&Move| !it.steps.is_empty() && renamed[next..].starts_with(&it.steps);
            let wanted = moves.iter().filter(fits).max_by_key(|it| it.steps.len());
            let is_death = |step: &Step| {
                !step.is_claim()
                    && matches!(machine.program().transition(step.transition).action, Action::Die)
            };
            let waits = next < renamed.len() || violation == Violation::InvalidEndState;
            let death = moves.iter().find(|it| waits && it.steps.iter().any(is_death));
            let Some(taken) = wanted.or(death) else {
                break;
            };
            next += wanted.map_or(0, |it| it.steps.len());
            run.extend_from_slice(&taken.steps);
            let Some(after) = &taken.next else {
                break;
            };
            config = after.clone();
        }
        run.extend_from_slice(&renamed[next..]);
        run
    }

    fn layout(&self, state: &[u8]) -> u32 {
        self.machine.layout(state)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.machine.key(state)
    }
}
