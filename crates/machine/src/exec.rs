//! What a transition needs and what it does to a state.

use std::ops::Range;
use std::sync::Arc;

use spinward_program::ir::{
    Action, BodyId, BodyKind, ChannelTypeId, Expr, InitStep, MtypeId, Place, ReceiveArg, Scalar,
    StateId, Transition, TransitionId,
};

use crate::Machine;
use crate::eval::{CONTROL, Context, Mistakes, message_offset};
use crate::format;
use crate::memory::{load_u16, store};
use crate::shape::{Entity, Shape};
use crate::touched::Touched;
use crate::transfer::{Transfer, Way};
use crate::violation::{RuntimeError, Violation};

/// SPIN's bound on living processes (a claim counts) and on channels.
const MAX_ALIVE: usize = 255;

/// Bytes of a state. The largest that SPIN was ever told to allow is far smaller.
const MAX_BYTES: usize = 32 << 20;

/// A `d_step` that goes wrong this often counts as one that does not end: each time is remembered.
const MAX_VIOLATIONS: usize = 1 << 16;

/// A `d_step` of fewer steps is not asked whether it goes round in circles.
const FEW_STEPS: u64 = 32;

/// Of what a `d_step` prints so many bytes are told: it may go round a great many times.
const MAX_PRINTED: usize = 1 << 20;

/// Of the messages that a `d_step` sends and receives so many are told.
const MAX_TRANSFERS: usize = 1 << 16;

/// A state that is being changed.
#[derive(Clone, Debug)]
pub struct Work {
    /// The state.
    pub state: Vec<u8>,
    /// Its shape.
    pub shape: Arc<Shape>,
    /// What was looked at and changed on the way to the state, if somebody wants to know.
    pub touched: Option<Box<Touched>>,
}

impl Work {
    /// A state, of which nobody wants to know how it changes.
    pub fn new(state: Vec<u8>, shape: Arc<Shape>) -> Self {
        Self { state, shape, touched: None }
    }

    /// Puts what is left of a number after truncation into the state: all changes are made here and
    /// in the three functions below.
    pub fn store(&mut self, offset: usize, scalar: Scalar, value: i32) {
        if let Some(touched) = &mut self.touched {
            touched.write(offset, scalar.bytes() as usize);
        }
        store(&mut self.state, offset, scalar, value);
    }

    /// Puts zeroes into a part of the state.
    fn clear(&mut self, part: Range<usize>) {
        if let Some(touched) = &mut self.touched {
            touched.write(part.start, part.len());
        }
        self.state[part].fill(0);
    }

    /// Moves what lies in a part of the state down, to its start, and puts zeroes into the rest.
    fn close_gap(&mut self, part: Range<usize>, gap: usize) {
        let Range { start, end } = part;
        if let Some(touched) = &mut self.touched {
            touched.read(start + gap, end - start - gap);
            touched.write(start, end - start);
        }
        self.state.copy_within(start + gap..end, start);
        self.state[end - gap..end].fill(0);
    }

    /// Moves what lies in a part of the state up, behind a gap that is to be filled.
    fn open_gap(&mut self, part: Range<usize>, gap: usize) {
        if let Some(touched) = &mut self.touched {
            touched.read(part.start, part.len());
            touched.write(part.start + gap, part.len());
        }
        self.state.copy_within(part.clone(), part.start + gap);
    }

    /// Becomes another one.
    pub fn copy(&mut self, other: &Self) {
        self.state.clear();
        self.state.extend_from_slice(&other.state);
        if !Arc::ptr_eq(&other.shape, &self.shape) {
            self.shape = other.shape.clone();
        }
        if self.touched.is_some() || other.touched.is_some() {
            self.touched.clone_from(&other.touched);
        }
    }
}

/// What comes to light while a transition is tried and taken.
#[derive(Debug, Default)]
pub struct Findings {
    /// What goes wrong, without ending the run.
    pub violations: Vec<Violation>,
    /// By transition: whether a process stood before it and it was looked at.
    pub tried: Vec<bool>,
    /// What `printf` prints, if somebody wants to know.
    pub prints: Option<String>,
    /// The messages that are sent and received, if somebody wants to know.
    pub transfers: Option<Vec<Transfer>>,
    mistakes: Mistakes,
}

/// Whether a transition is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Not now.
    No,
    /// Now.
    Yes,
    /// If somebody takes the message that it offers.
    Offer,
}

/// A message offered in a rendezvous.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// The channel's number.
    pub channel: i32,
    /// Its fields, as the channel's types leave them.
    pub fields: Vec<i32>,
}

impl Findings {
    pub(crate) fn new(transitions: usize) -> Self {
        Self { tried: vec![false; transitions], ..Self::default() }
    }

    /// Drops what came to light about a move that is not taken.
    pub(crate) fn forget(&mut self) {
        self.violations.clear();
        if let Some(prints) = &mut self.prints {
            prints.clear();
        }
        if let Some(transfers) = &mut self.transfers {
            transfers.clear();
        }
    }

    /// Notes that a message was sent or received.
    fn transferred(&mut self, way: Way, channel: i32, slot: usize, fields: &[i32]) {
        if let Some(transfers) = &mut self.transfers
            && transfers.len() < MAX_TRANSFERS
        {
            transfers.push(Transfer { way, channel, slot, fields: fields.to_vec() });
        }
    }

    fn mistakes_in(&mut self, transition: TransitionId) {
        let runtime = |error| Violation::Runtime(error, transition);
        self.violations.extend(self.mistakes.drain(..).map(runtime));
    }
}

impl Machine {
    /// Who asks for the value of an expression in a state.
    pub(crate) fn context<'a>(
        &'a self,
        work: &'a Work,
        process: Option<usize>,
        timeout: bool,
    ) -> Context<'a> {
        let Work { state, shape, touched } = work;
        let touched = touched.as_deref();
        Context { machine: self, state, shape, process, timeout, asked: 0, touched }
    }

    /// A process that asks in a state between moves.
    pub(crate) fn context_of<'a>(
        &'a self,
        state: &'a [u8],
        shape: &'a Shape,
        process: usize,
    ) -> Context<'a> {
        let process = Some(process);
        Context { machine: self, state, shape, process, timeout: false, asked: 0, touched: None }
    }

    /// Whether a transition is possible when no message is offered. `moved`: whether another
    /// transition of the process was.
    pub(crate) fn guard(
        &self,
        context: &Context<'_>,
        id: TransitionId,
        moved: bool,
        findings: &mut Findings,
    ) -> Result<Guard, RuntimeError> {
        findings.tried[id.0 as usize] = true;
        let result = self.possible(
            context,
            &self.program.transition(id).action,
            moved,
            &mut findings.mistakes,
        );
        findings.mistakes_in(id);
        result
    }

    pub(crate) fn possible(
        &self,
        context: &Context<'_>,
        action: &Action,
        moved: bool,
        mistakes: &mut Mistakes,
    ) -> Result<Guard, RuntimeError> {
        let possible = match action {
            Action::Skip
            | Action::Assign(..)
            | Action::AssignAll(_)
            | Action::Assert(_)
            | Action::Print { .. }
            | Action::PrintMtype(..)
            | Action::SetPriority(..)
            | Action::SetOwnPriority(_)
            | Action::Run { .. } => true,
            Action::Else => !moved,
            Action::Condition(condition) => context.eval(condition, mistakes)? != 0,
            Action::Send { channel, .. } => {
                let channel = context.channel(context.eval(channel, mistakes)?)?;
                if channel.kind.capacity == 0 {
                    return Ok(Guard::Offer);
                }
                context.message_count(channel) < channel.kind.capacity as usize
            }
            Action::Receive { channel, random, keep, args } => {
                let channel = context.channel(context.eval(channel, mistakes)?)?;
                if *keep && channel.kind.capacity == 0 {
                    mistakes.push(RuntimeError::PollOfRendezvous);
                }
                context.find_message(channel, *random, args, mistakes)?.is_some()
            }
            Action::Die => context.process.is_some_and(|p| p + 1 == context.shape.processes.len()),
            Action::DStep { entry } => {
                for id in self.inner(context, *entry) {
                    match self.possible(
                        context,
                        &self.program.transition(id).action,
                        false,
                        mistakes,
                    )? {
                        Guard::No => {}
                        Guard::Yes => return Ok(Guard::Yes),
                        Guard::Offer => return Err(RuntimeError::DStepRendezvous),
                    }
                }
                false
            }
            Action::Event { .. } | Action::C(_) => false,
        };
        Ok(if possible { Guard::Yes } else { Guard::No })
    }

    /// Whether a transition takes an offered message.
    pub(crate) fn answers(
        &self,
        context: &Context<'_>,
        id: TransitionId,
        message: &Message,
        findings: &mut Findings,
    ) -> Result<bool, RuntimeError> {
        let transition = self.program.transition(id);
        let result = self.takes(context, &transition.action, message, &mut findings.mistakes);
        findings.mistakes_in(id);
        if result == Ok(true) {
            findings.tried[id.0 as usize] = true;
        }
        result
    }

    pub(crate) fn takes(
        &self,
        context: &Context<'_>,
        action: &Action,
        message: &Message,
        mistakes: &mut Mistakes,
    ) -> Result<bool, RuntimeError> {
        match action {
            Action::Receive { channel, args, keep, .. } => {
                let number = context.eval(channel, mistakes)?;
                // A process that waits for a channel it does not have is an error of its own.
                let kind = context.channel(number)?.kind;
                if *keep {
                    // Nobody can look at an offer and leave it.
                    if kind.capacity == 0 {
                        mistakes.push(RuntimeError::PollOfRendezvous);
                    }
                    return Ok(false);
                }
                if number != message.channel {
                    return Ok(false);
                }
                if args.len() != message.fields.len() {
                    return Err(RuntimeError::ReceiveFieldCount);
                }
                context.matches(args, message.fields.len(), |i| message.fields[i], mistakes)
            }
            Action::DStep { entry } => {
                for id in self.inner(context, *entry) {
                    if self.takes(
                        context,
                        &self.program.transition(id).action,
                        message,
                        mistakes,
                    )? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// The transitions of a local state inside a `d_step` of the process that asks.
    fn inner(
        &self,
        context: &Context<'_>,
        state: StateId,
    ) -> impl Iterator<Item = TransitionId> + use<> {
        let body = match context.process {
            Some(process) => context.shape.processes[process].kind,
            None => self.options.claim.expect("who is not a process is the claim"),
        };
        self.program.automaton(body).state(state).transition_ids()
    }

    /// The message that a send offers.
    pub(crate) fn offer(
        &self,
        context: &Context<'_>,
        id: TransitionId,
        message: &mut Message,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let Action::Send { channel, args, .. } = &self.program.transition(id).action else {
            unreachable!("only a send offers a message");
        };
        let result = (|| {
            message.channel = context.eval(channel, &mut findings.mistakes)?;
            let kind = context.channel(message.channel)?.kind;
            if args.len() != kind.fields.len() {
                findings.mistakes.push(RuntimeError::SendFieldCount);
            }
            message.fields.clear();
            for (i, field) in kind.fields.iter().enumerate() {
                let value = match args.get(i) {
                    Some(arg) => context.eval(arg, &mut findings.mistakes)?,
                    None => 0,
                };
                message.fields.push(field.scalar.truncate(value));
            }
            Ok(())
        })();
        findings.mistakes_in(id);
        result
    }

    /// Takes a transition that is possible: its effect, and where the process goes.
    pub(crate) fn take(
        &self,
        work: &mut Work,
        process: Option<usize>,
        id: TransitionId,
        timeout: bool,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let transition = self.program.transition(id);
        self.effect(work, process, id, timeout, None, findings)?;
        self.advance(work, process, transition);
        Ok(())
    }

    /// Takes the transition of a receiver that answers an offer.
    pub(crate) fn take_answer(
        &self,
        work: &mut Work,
        process: usize,
        id: TransitionId,
        timeout: bool,
        message: &Message,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let transition = self.program.transition(id);
        self.effect(work, Some(process), id, timeout, Some(message), findings)?;
        self.advance(work, Some(process), transition);
        Ok(())
    }

    /// Sets local variables of the process whose block starts there to 0.
    fn reset(&self, work: &mut Work, block: usize, resets: &[Range<u32>]) {
        let locals = block + self.header.process;
        for &Range { start, end } in resets {
            work.clear(locals + start as usize..locals + end as usize);
        }
    }

    /// Moves a process (or the claim) to the target of a transition.
    pub(crate) fn advance(&self, work: &mut Work, process: Option<usize>, transition: &Transition) {
        match process {
            Some(process) => {
                // The target is none if the process died; its block is gone then.
                if let Some(at) = work.shape.processes.get(process).copied() {
                    work.store(at.offset, CONTROL, i32::from(transition.to.0));
                    self.reset(work, at.offset, &transition.resets);
                }
                if let Some(last) = self.header.last {
                    work.store(last, Scalar::U8, process as i32);
                }
            }
            None => {
                let claim = self.header.claim.expect("who is not a process is the claim");
                work.store(claim, CONTROL, i32::from(transition.to.0));
            }
        }
    }

    fn effect(
        &self,
        work: &mut Work,
        process: Option<usize>,
        id: TransitionId,
        timeout: bool,
        offered: Option<&Message>,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let result = self.act(work, process, id, timeout, offered, findings);
        findings.mistakes_in(id);
        result
    }

    fn act(
        &self,
        work: &mut Work,
        process: Option<usize>,
        id: TransitionId,
        timeout: bool,
        offered: Option<&Message>,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let transition = self.program.transition(id);
        let eval = |work: &Work, expr: &Expr, mistakes: &mut Mistakes| {
            self.context(work, process, timeout).eval(expr, mistakes)
        };
        match &transition.action {
            Action::Skip
            | Action::Condition(_)
            | Action::Else
            | Action::Event { .. }
            | Action::C(_) => {}
            Action::Assign(place, value) => {
                let value = eval(work, value, &mut findings.mistakes)?;
                self.set(work, process, timeout, place, value, &mut findings.mistakes)?;
            }
            Action::AssignAll(pairs) => {
                for (place, value) in pairs {
                    let value = eval(work, value, &mut findings.mistakes)?;
                    self.set(work, process, timeout, place, value, &mut findings.mistakes)?;
                }
            }
            Action::Assert(condition) => {
                if eval(work, condition, &mut findings.mistakes)? == 0 && self.options.assertions {
                    findings.violations.push(Violation::Assertion(id));
                }
            }
            Action::Print { format, args } => {
                self.print(work, process, timeout, format, args, findings)?;
            }
            Action::PrintMtype(value, set) => {
                let value = eval(work, value, &mut findings.mistakes)?;
                if let Some(prints) = &mut findings.prints {
                    prints.push_str(&format::mtype(&self.program, *set, value));
                }
            }
            Action::SetPriority(pid, priority) => {
                let pid = eval(work, pid, &mut findings.mistakes)?;
                let priority = eval(work, priority, &mut findings.mistakes)?;
                if let Some(at) =
                    usize::try_from(pid).ok().and_then(|p| work.shape.processes.get(p).copied())
                {
                    if !(1..=255).contains(&priority) {
                        return Err(RuntimeError::PriorityRange);
                    }
                    work.store(at.offset + 2, Scalar::U8, priority);
                }
            }
            Action::SetOwnPriority(priority) => {
                let priority = eval(work, priority, &mut findings.mistakes)?;
                if let Some(process) = process {
                    let at = work.shape.processes[process].offset + 2;
                    work.store(at, Scalar::U8, priority);
                }
            }
            Action::Run { result, body, args, priority } => {
                let priority = match priority {
                    Some(priority) => eval(work, priority, &mut findings.mistakes)?,
                    None => 1,
                };
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(eval(work, arg, &mut findings.mistakes)?);
                }
                let pid = self.create(work, *body, &values, priority)?;
                if let Some(place) = result {
                    self.set(work, process, timeout, place, pid, &mut findings.mistakes)?;
                }
            }
            Action::Send { channel, sorted, args } => {
                let number = eval(work, channel, &mut findings.mistakes)?;
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(eval(work, arg, &mut findings.mistakes)?);
                }
                let mistakes = &mut findings.mistakes;
                let (slot, last) = self.enqueue(work, number, &values, *sorted, mistakes)?;
                if findings.transfers.is_some() {
                    let message = self.message(work, number, slot)?;
                    findings.transferred(Way::Sent, number, slot, &message.fields);
                }
                if self.header.trace.is_some() {
                    // SPIN looks at the message in the last place, also after a sorted send.
                    let message = self.message(work, number, last)?;
                    self.event(work, true, &message, id, findings)?;
                }
            }
            Action::Receive { .. } => {
                return self.receive(work, process, id, timeout, offered, findings);
            }
            Action::Die => {
                let without = work.shape.without_youngest().cloned();
                work.shape = without.expect("the process that dies is the youngest");
                work.state.truncate(work.shape.bytes);
                self.note_shape(work);
            }
            Action::DStep { entry } => {
                self.run_d_step(work, process, transition.to, *entry, timeout, offered, findings)?;
            }
        }
        Ok(())
    }

    /// Takes a message out of a channel, or one that is offered in a rendezvous.
    fn receive(
        &self,
        work: &mut Work,
        process: Option<usize>,
        id: TransitionId,
        timeout: bool,
        offered: Option<&Message>,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let Action::Receive { channel, random, keep, args } = &self.program.transition(id).action
        else {
            unreachable!("only a receive takes a message");
        };
        if let Some(message) = offered {
            findings.transferred(Way::Handed, message.channel, 0, &message.fields);
            if self.header.trace.is_some() {
                self.event(work, false, message, id, findings)?;
            }
            let mistakes = &mut findings.mistakes;
            return self.store_fields(work, process, timeout, args, &message.fields, mistakes);
        }
        let mistakes = &mut findings.mistakes;
        let context = self.context(work, process, timeout);
        let number = context.eval(channel, mistakes)?;
        let at = context.channel(number)?;
        if args.len() != at.kind.fields.len() {
            return Err(RuntimeError::ReceiveFieldCount);
        }
        let slot = context
            .find_message(at, *random, args, mistakes)?
            .expect("a receive is taken only if it is possible");
        let fields: Vec<i32> =
            (0..args.len()).map(|i| context.message_field(at, slot, i)).collect();
        if !keep && self.header.trace.is_some() {
            let first = self.message(work, number, 0)?;
            self.event(work, false, &first, id, findings)?;
        }
        self.store_fields(work, process, timeout, args, &fields, &mut findings.mistakes)?;
        findings.transferred(if *keep { Way::Seen } else { Way::Received }, number, slot, &fields);
        if !keep {
            self.dequeue(work, number, slot)?;
        }
        Ok(())
    }

    /// Sets the variables among the arguments of a receive.
    fn store_fields(
        &self,
        work: &mut Work,
        process: Option<usize>,
        timeout: bool,
        args: &[ReceiveArg],
        fields: &[i32],
        mistakes: &mut Mistakes,
    ) -> Result<(), RuntimeError> {
        for (arg, &value) in args.iter().zip(fields) {
            if let ReceiveArg::Store(place) = arg {
                // One after the other: an index may use a variable that was just received.
                self.set(work, process, timeout, place, value, mistakes)?;
            }
        }
        Ok(())
    }

    fn set(
        &self,
        work: &mut Work,
        process: Option<usize>,
        timeout: bool,
        place: &Place,
        value: i32,
        mistakes: &mut Mistakes,
    ) -> Result<(), RuntimeError> {
        let offset = self.context(work, process, timeout).offset(place, mistakes)?;
        work.store(offset, place.scalar, value);
        Ok(())
    }

    fn print(
        &self,
        work: &Work,
        process: Option<usize>,
        timeout: bool,
        format: &str,
        args: &[(Expr, Option<MtypeId>)],
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let context = self.context(work, process, timeout);
        let mut values = Vec::with_capacity(args.len());
        for (arg, set) in args {
            values.push((context.eval(arg, &mut findings.mistakes)?, *set));
        }
        if let Some(prints) = &mut findings.prints
            && prints.len() < MAX_PRINTED
        {
            prints.push_str(&format::printf(&self.program, format, &values));
        }
        Ok(())
    }

    /// Runs the inside of a `d_step` until it comes to `exit`.
    #[allow(clippy::too_many_arguments)]
    fn run_d_step(
        &self,
        work: &mut Work,
        process: Option<usize>,
        exit: StateId,
        entry: StateId,
        timeout: bool,
        mut offered: Option<&Message>,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let mut at = entry;
        // Brent's way to notice a cycle: compare with a state remembered at each power of two.
        let mut remembered: Option<(StateId, Work)> = None;
        let mut steps = 0u64;
        while steps == 0 || at != exit {
            let context = self.context(work, process, timeout);
            let mut chosen = None;
            for id in self.inner(&context, at) {
                let possible = match offered {
                    Some(message) => self.answers(&context, id, message, findings)?,
                    // The transitions are tried in order with `else` last, so when it is looked at
                    // no other was possible.
                    None => match self.guard(&context, id, false, findings)? {
                        Guard::No => false,
                        Guard::Yes => true,
                        Guard::Offer => return Err(RuntimeError::DStepRendezvous),
                    },
                };
                if possible {
                    chosen = Some(id);
                    break;
                }
            }
            let Some(id) = chosen else {
                return Err(RuntimeError::DStepBlocks);
            };
            self.effect(work, process, id, timeout, offered.take(), findings)?;
            at = self.program.transition(id).to;
            steps += 1;
            if let Some((state, old)) = &remembered
                && *state == at
                && old.state == work.state
            {
                return Err(RuntimeError::DStepEndless);
            }
            let told = steps.is_multiple_of(1024) && self.stopped();
            if told || findings.violations.len() > MAX_VIOLATIONS {
                return Err(RuntimeError::DStepEndless);
            }
            if steps >= FEW_STEPS && steps.is_power_of_two() {
                remembered = Some((at, work.clone()));
            }
        }
        Ok(())
    }

    /// Creates a process and says its number.
    pub(crate) fn create(
        &self,
        work: &mut Work,
        body: BodyId,
        args: &[i32],
        priority: i32,
    ) -> Result<i32, RuntimeError> {
        let pid = work.shape.processes.len();
        if pid + usize::from(self.header.claim.is_some()) >= MAX_ALIVE {
            return Err(RuntimeError::TooManyProcesses);
        }
        let automaton = self.program.automaton(body);
        let start = work.shape.bytes;
        let bytes = self.header.process + automaton.locals.bytes as usize;
        self.grow(work, Entity::Process(body), bytes)?;
        work.store(start, CONTROL, i32::from(automaton.initial.0));
        if self.program.uses.priorities {
            work.store(start + 2, Scalar::U8, priority);
        }
        for (place, value) in automaton.params.iter().zip(args) {
            let offset = start + self.header.process + place.offset as usize;
            work.store(offset, place.scalar, *value);
        }
        self.initialize(work, &automaton.init, Some(pid))?;
        self.reset(work, start, &automaton.resets);
        Ok(pid as i32)
    }

    /// Runs what initializes a block.
    pub(crate) fn initialize(
        &self,
        work: &mut Work,
        steps: &[InitStep],
        process: Option<usize>,
    ) -> Result<(), RuntimeError> {
        let mut mistakes = Mistakes::new();
        for step in steps {
            let (place, value) = match step {
                InitStep::Store(place, value) => {
                    let context = self.context(work, process, false);
                    (place, context.eval(value, &mut mistakes)?)
                }
                InitStep::NewChannel(place, kind) => (place, self.create_channel(work, *kind)?),
            };
            self.set(work, process, false, place, value, &mut mistakes)?;
        }
        Ok(())
    }

    fn create_channel(&self, work: &mut Work, kind: ChannelTypeId) -> Result<i32, RuntimeError> {
        let number = work.shape.channels.len() + 1;
        if number > MAX_ALIVE {
            return Err(RuntimeError::TooManyChannels);
        }
        let bytes = self.program.channel(kind).bytes() as usize;
        self.grow(work, Entity::Channel(kind), bytes)?;
        Ok(number as i32)
    }

    fn grow(&self, work: &mut Work, entity: Entity, bytes: usize) -> Result<(), RuntimeError> {
        if work.shape.bytes + bytes > MAX_BYTES {
            return Err(RuntimeError::StateTooLarge);
        }
        work.shape = self.shapes.push(&work.shape, entity, bytes);
        work.state.resize(work.shape.bytes, 0);
        self.note_shape(work);
        Ok(())
    }

    fn note_shape(&self, work: &mut Work) {
        if let Some(touched) = &mut work.touched {
            touched.reshaped = true;
        }
        work.store(self.header.shape, Scalar::I32, work.shape.id as i32);
    }

    fn message(&self, work: &Work, number: i32, slot: usize) -> Result<Message, RuntimeError> {
        let context = self.context(work, None, false);
        let at = context.channel(number)?;
        let fields =
            (0..at.kind.fields.len()).map(|i| context.message_field(at, slot, i)).collect();
        Ok(Message { channel: number, fields })
    }

    /// Puts a message into a channel that has room; says in which place it is, and in which SPIN's trace looks
    /// for it.
    fn enqueue(
        &self,
        work: &mut Work,
        number: i32,
        values: &[i32],
        sorted: bool,
        mistakes: &mut Mistakes,
    ) -> Result<(usize, usize), RuntimeError> {
        let channel = self.channel_at(&work.shape, number)?;
        let context = self.context(work, None, false);
        let fields = &channel.kind.fields;
        if values.len() != fields.len() {
            mistakes.push(RuntimeError::SendFieldCount);
        }
        let value = |i: usize| values.get(i).copied().unwrap_or(0);
        let count = context.message_count(channel);
        let mut slot = count;
        if sorted {
            // Before the first message that is larger; the new values count as sent, not as stored.
            slot = (0..count)
                .find(|&s| {
                    (0..fields.len())
                        .map(|i| value(i).cmp(&context.message_field(channel, s, i)))
                        .find(|order| order.is_ne())
                        .is_some_and(std::cmp::Ordering::is_lt)
                })
                .unwrap_or(count);
        }
        let size = channel.kind.message_bytes as usize;
        let from = message_offset(channel, slot);
        let end = message_offset(channel, count);
        work.open_gap(from..end, size);
        for (i, field) in fields.iter().enumerate() {
            work.store(from + field.offset as usize, field.scalar, value(i));
        }
        work.store(channel.offset, channel.kind.count(), count as i32 + 1);
        Ok((slot, count))
    }

    /// Takes a message out of a channel.
    fn dequeue(&self, work: &mut Work, number: i32, slot: usize) -> Result<(), RuntimeError> {
        let channel = self.channel_at(&work.shape, number)?;
        let count = self.context(work, None, false).message_count(channel);
        let from = message_offset(channel, slot);
        let end = message_offset(channel, count);
        let size = channel.kind.message_bytes as usize;
        work.close_gap(from..end, size);
        work.store(channel.offset, channel.kind.count(), count as i32 - 1);
        Ok(())
    }

    /// Moves the trace on by an event of the model.
    pub(crate) fn event(
        &self,
        work: &mut Work,
        send: bool,
        message: &Message,
        cause: TransitionId,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let (Some(at), Some(body)) = (self.header.trace, self.program.trace) else {
            return Ok(());
        };
        let automaton = self.program.automaton(body);
        let forbidden = automaton.kind == BodyKind::NoTrace;
        let context = self.context(work, None, false);
        let mut mistakes = Mistakes::new();
        let concerns =
            |id: TransitionId, mistakes: &mut Mistakes| match &self.program.transition(id).action {
                Action::Event { send: s, channel, .. } if *s == send => {
                    Ok(context.eval(channel, mistakes)? == message.channel)
                }
                _ => Ok(false),
            };
        let mut in_scope = false;
        for id in automaton.states.iter().flat_map(|s| s.transition_ids()) {
            in_scope = in_scope || concerns(id, &mut mistakes)?;
        }
        if !in_scope {
            return Ok(());
        }
        let mut next = None;
        for id in automaton.state(StateId(load_u16(&work.state, at))).transition_ids() {
            let fits = match &self.program.transition(id).action {
                Action::Event { args, .. } => {
                    concerns(id, &mut mistakes)?
                        && context.matches(
                            args,
                            message.fields.len(),
                            |i| message.fields[i],
                            &mut mistakes,
                        )?
                }
                Action::Skip => true,
                Action::Else => next.is_none(),
                _ => false,
            };
            if fits {
                findings.tried[id.0 as usize] = true;
                if next.replace(self.program.transition(id).to).is_some() {
                    findings
                        .violations
                        .push(Violation::Runtime(RuntimeError::TraceNondeterminism, cause));
                    break;
                }
            }
        }
        match next {
            Some(state) => {
                work.store(at, CONTROL, i32::from(state.0));
                if forbidden && state == self.trace_end {
                    findings.violations.push(Violation::TraceComplete);
                }
            }
            // Only a run that shows the forbidden events from its start counts.
            None if forbidden => work.store(at, CONTROL, i32::from(self.trace_end.0)),
            None => findings.violations.push(Violation::TraceMismatch),
        }
        Ok(())
    }

    /// Whether a process has a possible transition, asked by another. As in SPIN, `provided` does
    /// not count.
    pub(crate) fn enabled(
        &self,
        asker: &Context<'_>,
        process: usize,
        mistakes: &mut Mistakes,
    ) -> Result<bool, RuntimeError> {
        // Whoever was asked may ask in turn. With more questions than processes somebody's answer
        // depends on itself.
        if asker.asked > asker.shape.processes.len() {
            return Err(RuntimeError::EnabledOfSelf);
        }
        let context = Context { process: Some(process), asked: asker.asked + 1, ..*asker };
        let automaton = self.program.automaton(context.shape.processes[process].kind);
        for id in automaton.state(context.control(process)).transition_ids() {
            let action = &self.program.transition(id).action;
            if self.possible(&context, action, false, mistakes)? != Guard::No {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
