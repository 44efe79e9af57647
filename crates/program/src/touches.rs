//! What steps look at and change.

use std::ops::Range;

use crate::Program;
use crate::access::is_harmless;
use crate::ir::{
    Action, BinaryOp, BodyId, ChannelTest, Expr, InitStep, Place, ReceiveArg, Space, StateId,
    Transition, TransitionId,
};

/// What some steps of a process look at and change, besides the variables of the process itself.
#[derive(Clone, Debug, Default)]
pub struct Touches<'p> {
    /// Bytes of globals that are looked at.
    pub reads: Vec<Bytes>,
    /// Bytes of globals that are changed.
    pub writes: Vec<Bytes>,
    /// Bytes of the process's own variables that are changed.
    pub own_writes: Vec<Range<u32>>,
    /// Channels, and what is done with them.
    pub uses: Vec<(Use, &'p Expr)>,
    /// Variables of other processes that are looked at.
    pub remote_variables: Vec<Range<u32>>,
    /// Local states in which others may be, if that is asked.
    pub remote_states: Vec<StateId>,
    /// Bodies of processes that are created.
    pub creates: Vec<BodyId>,
    /// Whether the process may die.
    pub dies: bool,
    /// `_nr_pr`
    pub counts_processes: bool,
    /// Something else that depends on all processes: priorities, `enabled`, `np_`, ...
    pub anything: bool,
}

/// Some bytes of the globals.
pub type Bytes = (Space, Range<u32>);

/// What is done with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A message is put behind the last one.
    Send,
    /// A message is put where it belongs.
    SendSorted,
    /// The first message is looked at, or taken.
    Receive,
    /// Any message is.
    ReceiveAny,
    /// It is asked whether there is room.
    HasRoom,
    /// It is asked whether there is a message.
    HasMessage,
    /// Anything else is asked.
    Test,
}

/// Whether ranges have something in common.
pub fn overlap(one: &Range<u32>, other: &Range<u32>) -> bool {
    one.start < other.end && other.start < one.end
}

impl<'p> Touches<'p> {
    /// Adds a transition. A `d_step` is one, with all inside of it.
    pub fn add(&mut self, program: &'p Program, transition: &'p Transition) {
        each_step(program, transition, |step| self.action(program, &step.action));
    }

    fn action(&mut self, program: &'p Program, action: &'p Action) {
        match action {
            Action::Skip | Action::Else | Action::DStep { .. } => {}
            Action::Condition(expr) => self.guard(expr),
            Action::Assert(expr) | Action::PrintMtype(expr, _) => self.expr(expr),
            Action::Assign(place, expr) => self.assign(place, expr),
            Action::AssignAll(pairs) => pairs.iter().for_each(|(place, e)| self.assign(place, e)),
            Action::Run { result, body, args, priority } => {
                self.creates.push(*body);
                args.iter().chain(priority).for_each(|arg| self.expr(arg));
                result.iter().for_each(|place| self.write(place));
                for step in &program.automaton(*body).init {
                    if let InitStep::Store(_, expr) = step {
                        self.expr(expr);
                    }
                }
            }
            Action::Send { channel, sorted, args } => {
                self.channel(if *sorted { Use::SendSorted } else { Use::Send }, channel);
                args.iter().for_each(|arg| self.expr(arg));
            }
            Action::Receive { channel, random, args, .. } => {
                self.channel(if *random { Use::ReceiveAny } else { Use::Receive }, channel);
                for arg in args {
                    match arg {
                        ReceiveArg::Store(place) => self.write(place),
                        ReceiveArg::Match(expr) => self.expr(expr),
                        ReceiveArg::Ignore => {}
                    }
                }
            }
            Action::Print { args, .. } => args.iter().for_each(|(arg, _)| self.expr(arg)),
            Action::Die => self.dies = true,
            Action::SetPriority(..)
            | Action::SetOwnPriority(_)
            | Action::Event { .. }
            | Action::C(_) => self.anything = true,
        }
    }

    fn assign(&mut self, place: &'p Place, expr: &'p Expr) {
        self.expr(expr);
        self.write(place);
    }

    fn indexes(&mut self, place: &'p Place) {
        place.indexes.iter().for_each(|index| self.expr(&index.value));
    }

    fn write(&mut self, place: &'p Place) {
        self.indexes(place);
        match place.space {
            Space::Local => self.own_writes.push(place.span()),
            space => self.writes.push((space, place.span())),
        }
    }

    fn channel(&mut self, use_: Use, channel: &'p Expr) {
        self.expr(channel);
        self.uses.push((use_, channel));
    }

    /// Adds what the value of an expression depends on.
    pub fn expr(&mut self, expr: &'p Expr) {
        let before = self.uses.len();
        self.guard(expr);
        let asked = |use_| matches!(use_, Use::HasRoom | Use::HasMessage);
        let uses = self.uses[before..].iter_mut().filter(|(use_, _)| asked(*use_));
        uses.for_each(|(use_, _)| *use_ = Use::Test);
    }

    /// Adds what an expression depends on that somebody waits for: what counts is whether it is true, and once it
    /// is, that it stays so.
    fn guard(&mut self, expr: &'p Expr) {
        match expr {
            // What waits for a timeout waits for everybody, and so changes nothing as long as anybody can move.
            Expr::Const(_) | Expr::Pid | Expr::Timeout => {}
            Expr::Load(place) => {
                self.indexes(place);
                if place.space != Space::Local {
                    self.reads.push((place.space, place.span()));
                }
            }
            Expr::ProcessCount => self.counts_processes = true,
            Expr::Last | Expr::Priority | Expr::NonProgress | Expr::C(_) => self.anything = true,
            Expr::Enabled(_) | Expr::PcValue(_) | Expr::GetPriority(_) => self.anything = true,
            Expr::Binary(BinaryOp::And, a, b) => {
                [a, b].iter().for_each(|operand| self.guard(operand));
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                // As soon as the one is true, nothing goes wrong in the other.
                if is_harmless(b) {
                    self.guard(a)
                } else {
                    self.expr(a)
                }
                self.guard(b);
            }
            Expr::Unary(_, a) => self.expr(a),
            Expr::Binary(_, a, b) => [a, b].iter().for_each(|operand| self.expr(operand)),
            Expr::Conditional(c, a, b) => [c, a, b].iter().for_each(|operand| self.expr(operand)),
            Expr::Len(channel) => self.channel(Use::Test, channel),
            Expr::ChannelTest(test, channel) => {
                let use_ = match test {
                    ChannelTest::NotEmpty => Use::HasMessage,
                    ChannelTest::NotFull => Use::HasRoom,
                    ChannelTest::Empty | ChannelTest::Full => Use::Test,
                };
                self.channel(use_, channel);
            }
            Expr::Poll { channel, args, .. } => {
                self.channel(Use::Test, channel);
                for arg in args {
                    if let ReceiveArg::Match(expr) = arg {
                        self.expr(expr);
                    }
                }
            }
            Expr::RemoteLabel { pid, state, .. } => {
                pid.iter().for_each(|pid| self.expr(pid));
                self.remote_states.push(*state);
            }
            Expr::RemoteVar { pid, place, .. } => {
                pid.iter().for_each(|pid| self.expr(pid));
                self.indexes(place);
                self.remote_variables.push(place.span());
            }
        }
    }

    /// Adds all of another.
    pub fn add_all(&mut self, other: &Self) {
        self.reads.extend_from_slice(&other.reads);
        self.writes.extend_from_slice(&other.writes);
        self.own_writes.extend_from_slice(&other.own_writes);
        self.uses.extend_from_slice(&other.uses);
        self.remote_variables.extend_from_slice(&other.remote_variables);
        self.remote_states.extend_from_slice(&other.remote_states);
        self.creates.extend_from_slice(&other.creates);
        self.dies |= other.dies;
        self.counts_processes |= other.counts_processes;
        self.anything |= other.anything;
    }
}

/// Calls `call` with a transition; if it is a `d_step`, with all transitions inside of it instead.
pub fn each_step<'p>(
    program: &'p Program,
    transition: &'p Transition,
    mut call: impl FnMut(&'p Transition),
) {
    match transition.action {
        Action::DStep { entry } => {
            each_inside(program, transition, entry, |id| call(program.transition(id)));
        }
        _ => call(transition),
    }
}

/// Calls `call` with each transition inside of a `d_step` with an entry.
pub(crate) fn each_inside(
    program: &Program,
    d_step: &Transition,
    entry: StateId,
    mut call: impl FnMut(TransitionId),
) {
    let mut inside = vec![entry];
    let mut next = 0;
    while let Some(&state) = inside.get(next) {
        next += 1;
        for id in program.automaton(d_step.body).state(state).transition_ids() {
            call(id);
            let to = program.transition(id).to;
            if to != d_step.to && to != StateId(0) && !inside.contains(&to) {
                inside.push(to);
            }
        }
    }
}
