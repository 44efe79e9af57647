//! What a single move of a run looks at and what it changes.
//!
//! *Idea*: two moves that stand next to each other in a run can change places if neither looks at what the other
//! changes (Mazurkiewicz, *Trace theory*, 1987). On a run at hand this is known to the byte: the interpreter notes
//! what it looks at, of the guard, of what could have prevented the move, and of the effect. A channel that is used
//! as a queue only is told apart: who puts a message in at its end and who takes another one out at its start do
//! not meet. A living process or channel stays where it is in the state, so that bytes of different states of a run
//! can be compared; those that come and go count as changed by who makes them come and go.

use std::ops::Range;

use spinward_program::ir::{Action, ReceiveArg, TransitionId};

use super::{Frame, Scan, Scratch};
use crate::Machine;
use crate::eval::{Context, Mistakes};
use crate::exec::{Guard, Message, Work};
use crate::machine::Config;
use crate::system::Step;
use crate::touched::{ALL, Touched};

/// What a move or a question depends on, and what it changes: bytes of the state, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touches {
    /// Bytes that it looks at, as they were before.
    pub read: Vec<Range<u32>>,
    /// Bytes that it changes.
    pub written: Vec<Range<u32>>,
    /// Whether it depends on what all others can do.
    pub movers: bool,
    /// The channel that it uses as a queue; its bytes are not among the others.
    pub queue: Option<QueueUse>,
}

/// A message is put into a channel at its end, or taken out at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUse {
    /// The bytes of the channel.
    pub bytes: Range<u32>,
    /// Whether it is put in.
    pub send: bool,
    /// How many messages were there before.
    pub waiting: usize,
    /// For how many there is room.
    pub capacity: usize,
}

impl Machine {
    /// What a move from a place of a run looks at and changes, whoever makes it. The move must be possible there.
    pub fn touches(&self, config: &Config, steps: &[Step], scratch: &mut Scratch) -> Touches {
        let mut work = self.noting(&config.state);
        let queue = match *steps {
            [step] if step.is_claim() => {
                self.note_guards(&work, None, step.transition, config.timeout, scratch);
                None
            }
            [step] => self.note_step(&mut work, step, config.timeout, scratch),
            [sent, received] => {
                self.note_rendezvous(&mut work, sent, received, config.timeout, scratch);
                None
            }
            _ => None,
        };
        scratch.findings.forget();
        self.told(&work, config.state.len(), queue)
    }

    /// What conditions of the program look at in a state.
    pub fn touches_of_conditions(&self, state: &[u8], conditions: &[u32]) -> Touches {
        let work = self.noting(state);
        let context = self.context(&work, None, false);
        for &number in conditions {
            let condition = &self.program.conditions[number as usize];
            if condition.asks_timeout {
                context.touched.inspect(|touched| touched.read_movers());
            }
            // What has no value is looked at all the same.
            let _ = context.eval(&condition.expr, &mut Mistakes::new());
        }
        self.told(&work, state.len(), None)
    }

    /// What is looked at to see who can move in a state, such as that nobody can.
    pub fn touches_of_rest(&self, state: &[u8], scratch: &mut Scratch) -> Touches {
        let mut frame = Frame::new(self.noting(state));
        frame.rewind();
        let mut next = frame.work.clone();
        while self.next_move(&mut frame, &mut next, &mut scratch.findings).is_some() {}
        scratch.findings.forget();
        let mut told = self.told(&frame.work, state.len(), None);
        // `timeout` lets nobody move: it was tried. Which processes there are matters in any case.
        told.movers = false;
        insert(&mut told.read, self.shape_bytes());
        told
    }

    fn noting(&self, state: &[u8]) -> Work {
        let mut work = Work::new(state.to_vec(), self.shapes.get(self.shape_of(state)));
        let mut touched = Box::<Touched>::default();
        touched.begin(state.len());
        work.touched = Some(touched);
        work
    }

    fn shape_bytes(&self) -> Range<u32> {
        let start = self.header.shape as u32;
        start..start + size_of::<u32>() as u32
    }

    /// What was noted on the way to a state, from one of so many bytes.
    fn told(&self, work: &Work, bytes: usize, queue: Option<QueueUse>) -> Touches {
        let Some(touched) = &work.touched else { return Touches::default() };
        let is_queue =
            |byte: usize| queue.as_ref().is_some_and(|queue| queue.bytes.contains(&(byte as u32)));
        let read = touched.all_read().enumerate();
        let mut read = ranges(read.map(|(byte, it)| it == ALL && !is_queue(byte)));
        let written = touched.all_written().iter().enumerate();
        let mut written = ranges(written.map(|(byte, it)| *it == ALL && !is_queue(byte)));
        if touched.reads_shape() || touched.reshaped {
            insert(&mut read, self.shape_bytes());
        }
        if touched.reshaped {
            // Whoever comes or goes is all new, or all gone.
            let (less, more) = (bytes.min(work.state.len()), bytes.max(work.state.len()));
            insert(&mut written, less as u32..more as u32);
        }
        Touches { read, written, movers: touched.reads_movers(), queue }
    }

    /// The guards on which it depends whether a process, or the claim, can take a transition.
    fn note_guards(
        &self,
        work: &Work,
        process: Option<usize>,
        id: TransitionId,
        timeout: bool,
        scratch: &mut Scratch,
    ) {
        self.note_siblings(work, process, id, timeout, scratch);
        let context = self.context(work, process, timeout);
        let _ = self.guard(&context, id, false, &mut scratch.findings);
    }

    /// The guards of others that may prevent a transition: of all if it is an `else`, of escapes, and in a
    /// `D_proctype`.
    fn note_siblings(
        &self,
        work: &Work,
        process: Option<usize>,
        id: TransitionId,
        timeout: bool,
        scratch: &mut Scratch,
    ) {
        let context = self.context(work, process, timeout);
        let transition = self.program.transition(id);
        let deterministic = self.program.automaton(transition.body).deterministic;
        if !(matches!(transition.action, Action::Else) || deterministic || self.may_escape(id)) {
            return;
        }
        for other in self.siblings(id).filter(|&other| other != id) {
            let guard = self.guard(&context, other, false, &mut scratch.findings);
            if matches!(guard, Ok(Guard::Offer)) {
                // Whether anybody answers depends on where all of them are.
                context.touched.inspect(|touched| touched.read_movers());
            }
        }
    }

    /// All transitions of the local state where one starts.
    fn siblings(&self, id: TransitionId) -> impl Iterator<Item = TransitionId> + use<> {
        let transition = self.program.transition(id);
        self.program.automaton(transition.body).state(transition.from).transition_ids()
    }

    /// Whether some of the transitions where one starts are escapes (`unless`).
    fn may_escape(&self, id: TransitionId) -> bool {
        self.siblings(id).any(|other| self.program.transition(other).escape > 0)
    }

    /// Takes the step of a process; the channel that it uses as a queue, if it does.
    fn note_step(
        &self,
        work: &mut Work,
        step: Step,
        timeout: bool,
        scratch: &mut Scratch,
    ) -> Option<QueueUse> {
        let process = usize::from(step.process);
        let mut scan = Scan { process, ..Scan::default() };
        self.scan_process(work, &mut scan, timeout, &mut scratch.findings);
        let queue = self.queue_use(work, process, step.transition, timeout);
        // Who asks otherwise what is in the channel sees more of it than its end or its start.
        let asked = queue.as_ref().is_some_and(|queue| {
            let mut others = self.noting(&work.state);
            others.touched.clone_from(&work.touched);
            self.note_siblings(&others, Some(process), step.transition, timeout, scratch);
            self.note_expressions(&others, process, step.transition, timeout);
            reads_any(&others, &queue.bytes)
        });
        self.note_guards(work, Some(process), step.transition, timeout, scratch);
        let findings = &mut scratch.findings;
        // A step that ends the run has no effect to speak of.
        let _ = self.take(work, Some(process), step.transition, timeout, findings);
        queue.filter(|_| !asked)
    }

    /// Looks at what a send or a receive says, not at the channel it is about.
    fn note_expressions(&self, work: &Work, process: usize, id: TransitionId, timeout: bool) {
        let context = self.context(work, Some(process), timeout);
        let mut mistakes = Mistakes::new();
        // What has no value ends the run when the step is taken.
        match &self.program.transition(id).action {
            Action::Send { channel, args, .. } => {
                for expr in std::iter::once(channel).chain(args) {
                    let _ = context.eval(expr, &mut mistakes);
                }
            }
            Action::Receive { channel, args, .. } => {
                let _ = context.eval(channel, &mut mistakes);
                for arg in args {
                    let _ = match arg {
                        ReceiveArg::Match(value) => context.eval(value, &mut mistakes).map(|_| ()),
                        ReceiveArg::Store(place) => {
                            context.offset(place, &mut mistakes).map(|_| ())
                        }
                        ReceiveArg::Ignore => Ok(()),
                    };
                }
            }
            _ => {}
        }
    }

    /// The channel that a step uses as a queue, if it does no more with it than that.
    fn queue_use(
        &self,
        work: &Work,
        process: usize,
        id: TransitionId,
        timeout: bool,
    ) -> Option<QueueUse> {
        let (channel, send) = match &self.program.transition(id).action {
            Action::Send { channel, sorted: false, .. } => (channel, true),
            Action::Receive { channel, random: false, keep: false, .. } => (channel, false),
            _ => return None,
        };
        let unnoticed = Context { touched: None, ..self.context(work, Some(process), timeout) };
        let number = unnoticed.eval(channel, &mut Mistakes::new()).ok()?;
        let at = unnoticed.channel(number).ok().filter(|at| at.kind.capacity > 0)?;
        let start = at.offset as u32;
        Some(QueueUse {
            bytes: start..start + at.kind.bytes(),
            send,
            waiting: unnoticed.message_count(at),
            capacity: at.kind.capacity as usize,
        })
    }

    fn note_rendezvous(
        &self,
        work: &mut Work,
        sent: Step,
        received: Step,
        timeout: bool,
        scratch: &mut Scratch,
    ) {
        let (sender, receiver) = (usize::from(sent.process), usize::from(received.process));
        let mut scan = Scan { process: sender, ..Scan::default() };
        self.scan_process(work, &mut scan, timeout, &mut scratch.findings);
        self.note_guards(work, Some(sender), sent.transition, timeout, scratch);
        let mut message = Message::default();
        let findings = &mut scratch.findings;
        let context = self.context(work, Some(sender), timeout);
        let _ = self.offer(&context, sent.transition, &mut message, findings);
        if self.made_by_a_process(work, message.channel) {
            // It goes with whoever made it, and has no bytes in which that would be seen.
            context.touched.inspect(|touched| touched.read_shape());
        }
        self.advance(work, Some(sender), self.program.transition(sent.transition));
        let _ = self.event(work, true, &message, sent.transition, findings);
        let mut scan = Scan { process: receiver, ..Scan::default() };
        self.scan_process(work, &mut scan, timeout, findings);
        let escapes = self.may_escape(received.transition);
        let context = self.context(work, Some(receiver), timeout);
        for id in self.siblings(received.transition) {
            if escapes || id == received.transition {
                let _ = self.answers(&context, id, &message, findings);
            }
        }
        let id = received.transition;
        let _ = self.take_answer(work, receiver, id, timeout, &message, findings);
    }

    fn made_by_a_process(&self, work: &Work, channel: i32) -> bool {
        let index = usize::try_from(channel).ok().and_then(|number| number.checked_sub(1));
        let channel = index.and_then(|index| work.shape.channels.get(index));
        channel.is_some_and(|channel| work.shape.creator(channel).is_some())
    }
}

fn reads_any(work: &Work, bytes: &Range<u32>) -> bool {
    let Some(touched) = &work.touched else { return false };
    let mut read = touched.all_read().skip(bytes.start as usize).take(bytes.len());
    read.any(|it| it == ALL)
}

/// The ranges of those that count.
fn ranges(bytes: impl Iterator<Item = bool>) -> Vec<Range<u32>> {
    let mut all: Vec<Range<u32>> = Vec::new();
    for (byte, _) in bytes.enumerate().filter(|(_, counts)| *counts) {
        let byte = byte as u32;
        match all.last_mut() {
            Some(last) if last.end == byte => last.end += 1,
            _ => all.push(byte..byte + 1),
        }
    }
    all
}

/// Adds a range to others, which it may overlap.
fn insert(all: &mut Vec<Range<u32>>, new: Range<u32>) {
    if !new.is_empty() {
        all.push(new);
        all.sort_by_key(|range| range.start);
    }
}
