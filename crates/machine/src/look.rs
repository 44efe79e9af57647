//! What is seen of a state by those who guess how far it is from an error.

use std::sync::Arc;

use spinward_program::ir::{
    Action, BodyId, ChannelType, Expr, ReceiveArg, Scalar, StateId, TransitionId,
};

use crate::Machine;
use crate::eval::{ChannelAt, Context, Mistakes};
use crate::exec::{Guard, Message};
use crate::memory::{load, load_u16};
use crate::shape::Shape;

/// Room to look at states in.
#[derive(Debug, Default)]
pub struct Sight {
    /// The shape of the last state.
    shape: Option<Arc<Shape>>,
}

/// A state that is looked at. What has no value in it is not seen.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    context: Context<'a>,
}

impl Machine {
    /// How many bytes of a state come before the values of variables, and where processes are.
    pub fn values_start(&self) -> usize {
        self.header.globals
    }

    /// Looks at a state. Bytes behind it do not matter.
    #[inline]
    pub fn look<'a>(&'a self, state: &'a [u8], sight: &'a mut Sight) -> Look<'a> {
        let id = self.shape_of(state);
        if sight.shape.as_ref().is_none_or(|shape| shape.id != id) {
            sight.shape = Some(self.shapes.get(id));
        }
        let shape = sight.shape.as_deref().expect("it was just set");
        Look { context: Context { process: None, ..self.context_of(state, shape, 0) } }
    }
}

impl Look<'_> {
    /// How many processes are alive.
    #[inline]
    pub fn processes(&self) -> usize {
        self.context.shape.processes.len()
    }

    /// What a process is, and where.
    #[inline]
    pub fn process(&self, number: usize) -> (BodyId, StateId) {
        (self.context.shape.processes[number].kind, self.context.control(number))
    }

    /// Where the claim is, if there is one.
    pub fn claim(&self) -> Option<StateId> {
        let at = self.context.machine.header.claim?;
        Some(StateId(load_u16(self.context.state, at)))
    }

    /// The process of a type with a number, if it is given, or else the first one.
    pub fn remote(&self, body: BodyId, number: Option<i32>) -> Option<usize> {
        let processes = &self.context.shape.processes;
        let found = match number {
            Some(number) => usize::try_from(number).ok().filter(|&it| it < processes.len()),
            None => processes.iter().position(|it| it.kind == body),
        };
        found.filter(|&it| processes[it].kind == body)
    }

    /// The value of an expression, for a process or for nobody.
    #[inline]
    pub fn value(&self, expr: &Expr, process: Option<usize>) -> Option<i32> {
        let mut mistakes = Mistakes::new();
        let value = Context { process, ..self.context }.eval(expr, &mut mistakes);
        value.ok().filter(|_| mistakes.is_empty())
    }

    /// The value of a global, by its place.
    #[inline]
    pub fn global(&self, offset: u32, scalar: Scalar) -> i32 {
        let at = self.context.machine.header.globals + offset as usize;
        load(self.context.state, at, scalar)
    }

    /// The value of a variable of a process, by its place.
    #[inline]
    pub fn local(&self, process: usize, offset: u32, scalar: Scalar) -> i32 {
        let block = self.context.shape.processes[process].offset;
        let at = block + self.context.machine.header.process + offset as usize;
        load(self.context.state, at, scalar)
    }

    /// How many channels there are.
    pub fn channels(&self) -> usize {
        self.context.shape.channels.len()
    }

    /// What a channel is, by its number from 0.
    pub fn channel_kind(&self, number: usize) -> &ChannelType {
        self.context.machine.program.channel(self.context.shape.channels[number].kind)
    }

    /// With whom a channel goes, if it does not stay for ever.
    pub fn owner(&self, number: usize) -> Option<usize> {
        self.context.shape.creator(&self.context.shape.channels[number])
    }

    /// How many messages are in a channel, which is put out first, and then some fields of each.
    pub fn contents(&self, number: usize, fields: &[usize], out: &mut Vec<i32>) -> usize {
        let placed = &self.context.shape.channels[number];
        let kind = self.context.machine.program.channel(placed.kind);
        let channel = ChannelAt { kind, offset: placed.offset };
        let count = self.context.message_count(channel);
        out.push(count as i32);
        for message in 0..count {
            let value = |field: &usize| self.context.message_field(channel, message, *field);
            out.extend(fields.iter().map(value));
        }
        count
    }

    /// How many messages are in a channel, and how many have room in it.
    pub fn messages(&self, channel: &Expr, process: Option<usize>) -> Option<(u32, u32)> {
        let channel = self.context.channel(self.value(channel, process)?).ok()?;
        Some((self.context.message_count(channel) as u32, channel.kind.capacity))
    }

    /// How many messages are in all channels, and how many have room in them.
    pub fn all_messages(&self) -> (u32, u32) {
        let channels = 1..=self.context.shape.channels.len() as i32;
        let found = channels.filter_map(|number| self.context.channel(number).ok());
        found.fold((0, 0), |(messages, room), channel| {
            let count = self.context.message_count(channel) as u32;
            (messages + count, room + channel.kind.capacity)
        })
    }

    /// Whether the message at a place of a channel, counted from its first, is such that a receive would take it.
    pub fn fits(
        &self,
        channel: &Expr,
        place: u32,
        args: &[ReceiveArg],
        process: Option<usize>,
    ) -> Option<bool> {
        let context = Context { process, ..self.context };
        let channel = context.channel(self.value(channel, process)?).ok()?;
        let field = |i| context.message_field(channel, place as usize, i);
        let fields = channel.kind.fields.len();
        context.matches(args, fields, field, &mut Mistakes::new()).ok()
    }

    /// Whether a statement of a process could be taken, as far as that is sure: a rendezvous needs somebody who
    /// answers.
    pub fn is_possible(&self, process: usize, id: TransitionId) -> bool {
        let machine = self.context.machine;
        let context = Context { process: Some(process), ..self.context };
        let mut mistakes = Mistakes::new();
        let action = &machine.program.transition(id).action;
        match machine.possible(&context, action, false, &mut mistakes) {
            Ok(Guard::Yes) => true,
            Ok(Guard::Offer) => self.answerer(process, action).is_some(),
            Ok(Guard::No) | Err(_) => false,
        }
    }

    /// Marks those who can move, as far as that is sure: both sides of a rendezvous. Whether `timeout` would let them
    /// does not count.
    pub fn movers(&self, out: &mut Vec<bool>) {
        out.clear();
        out.resize(self.processes(), false);
        for process in 0..self.processes() {
            self.mark_if_mover(process, out);
        }
    }

    fn mark_if_mover(&self, process: usize, out: &mut [bool]) {
        let machine = self.context.machine;
        let context = Context { process: Some(process), ..self.context };
        let mut mistakes = Mistakes::new();
        let automaton = machine.program.automaton(self.context.shape.processes[process].kind);
        if let Some(provided) = &automaton.provided
            && !context.eval(provided, &mut mistakes).is_ok_and(|value| value != 0)
        {
            return;
        }
        for id in automaton.state(context.control(process)).transition_ids() {
            let action = &machine.program.transition(id).action;
            match machine.possible(&context, action, out[process], &mut mistakes) {
                Ok(Guard::Yes) => {
                    out[process] = true;
                }
                Ok(Guard::Offer) => {
                    if let Some(other) = self.answerer(process, action) {
                        out[process] = true;
                        out[other] = true;
                    }
                }
                Ok(Guard::No) | Err(_) => {}
            }
        }
    }

    /// Who would answer an offer, if anybody.
    fn answerer(&self, sender: usize, action: &Action) -> Option<usize> {
        let machine = self.context.machine;
        let own = Context { process: Some(sender), ..self.context };
        let mut mistakes = Mistakes::new();
        let Action::Send { channel, args, .. } = action else {
            return None;
        };
        let channel = own.eval(channel, &mut mistakes).ok()?;
        let kind = own.channel(channel).ok()?.kind;
        let fields = kind.fields.iter().zip(args);
        let fields: Option<Vec<_>> = fields
            .map(|(field, arg)| Some(field.scalar.truncate(own.eval(arg, &mut mistakes).ok()?)))
            .collect();
        let message = Message { channel, fields: fields? };
        (0..self.processes()).filter(|&it| it != sender).find(|&other| {
            let context = Context { process: Some(other), ..self.context };
            let automaton = machine.program.automaton(self.context.shape.processes[other].kind);
            let is_held_back = automaton.provided.as_ref().is_some_and(|provided| {
                !context.eval(provided, &mut mistakes).is_ok_and(|value| value != 0)
            });
            let mut transitions = automaton.state(context.control(other)).transition_ids();
            !is_held_back
                && transitions.any(|id| {
                    let action = &machine.program.transition(id).action;
                    machine.takes(&context, action, &message, &mut mistakes) == Ok(true)
                })
        })
    }
}
